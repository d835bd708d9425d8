// Runs the Khronos validator on the given files and fails on any error or warning.
// NODE_PATH must hold the npm package gltf-validator (`cargo xtask test` puts it in target/npm).
const { readFileSync } = require("node:fs");
const { validateBytes } = require("gltf-validator");

(async () => {
  for (const file of process.argv.slice(2)) {
    const { issues } = await validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 20 });
    if (issues.numErrors + issues.numWarnings > 0) {
      console.log(file, JSON.stringify(issues, null, 1));
      process.exitCode = 1;
    }
  }
})();
