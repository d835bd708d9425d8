// Runs a WebAssembly program of WASI: node run.mjs PROGRAM.wasm ARGUMENT...
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: ["program", ...args], preopens: { ".": "." } });
const module = new WebAssembly.Module(readFileSync(program));
const imports = wasi.getImportObject();
// imports of crates that expect a browser; the program never calls them
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  imports[from] ??= {};
  imports[from][name] ??= () => {
    throw new Error(`${from}.${name} was called`);
  };
}
wasi.start(new WebAssembly.Instance(module, imports));
