"""Times peers on the beam that peers_fem wrote to the given folder.

Prints one JSON line a measurement: {"step", "peer", "peer_ms", "largest", "residual"}; a peer that
is not there gives one line with "absent". Times are processor time, ms.
"""

import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time

FOLDER = sys.argv[1]


def timed(run):
    times = []
    result = run()
    while len(times) < 3 or len(times) < 200 and sum(times) < 500:
        start = time.process_time()
        result = run()
        times.append(1e3 * (time.process_time() - start))
    return sorted(times)[len(times) // 2], result


def report(step, peer, ms, largest=None, residual=None):
    line = {"step": step, "peer": peer, "peer_ms": ms, "largest": largest, "residual": residual}
    print(json.dumps(line), flush=True)


def load(np, name, kind):
    return np.fromfile(os.path.join(FOLDER, name), kind)


def with_python():
    try:
        np, sp, skfem = (importlib.import_module(m) for m in ("numpy", "scipy.sparse", "skfem"))
        linalg = importlib.import_module("scipy.sparse.linalg")
        elasticity = importlib.import_module("skfem.models.elasticity")
    except ImportError as problem:
        print(json.dumps({"step": "cold", "peer": "scikit-fem and SciPy", "absent": str(problem)}))
        return
    vertices = load(np, "vertices", "<f8").reshape(-1, 3)
    tets = load(np, "tets", "<u4").reshape(-1, 4).astype(np.int64)
    fixed = load(np, "fixed", "<u4").astype(np.int64)
    loads = load(np, "loads", "<f8")
    lam, mu = load(np, "material", "<f8")
    free = np.setdiff1d(np.arange(3 * len(vertices)), (3 * fixed[:, None] + np.arange(3)).ravel())

    def assembled():
        mesh = skfem.MeshTet(vertices.T.copy(), tets.T.copy(), sort_t=False, validate=False)
        basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()))
        # its unknowns are ordered by node like ours
        return elasticity.linear_elasticity(lam, mu).assemble(basis).tocsc()

    ms_assembly, whole = timed(assembled)
    report("assembly", "scikit-fem " + skfem.__version__, ms_assembly)
    right = loads[free]
    ms_condense, matrix = timed(lambda: whole[free][:, free].tocsc())

    def facts(u):
        residual = np.linalg.norm(matrix @ u - right) / np.linalg.norm(right)
        all_u = np.zeros(3 * len(vertices))
        all_u[free] = u
        return float(np.linalg.norm(all_u.reshape(-1, 3), axis=1).max()), float(residual)

    def splu():
        return linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

    ms_factor, factor = timed(splu)
    ms_solve, u = timed(lambda: factor.solve(right))
    name = "scipy splu"
    report("factor", name, ms_factor)
    report("refactor", name, ms_factor)
    report("solve", name, ms_solve)
    report("warm impact", name + ", the solve alone", ms_solve)
    report("cold", "scikit-fem + splu", ms_assembly + ms_condense + ms_factor + ms_solve, *facts(u))

    inverse = sp.diags(1 / matrix.diagonal())
    ms_cg, u = timed(lambda: linalg.cg(matrix, right, rtol=1e-10, maxiter=20000, M=inverse)[0])
    report("cold cg", "scikit-fem + cg, Jacobi", ms_assembly + ms_condense + ms_cg, *facts(u))

    try:
        cholmod = importlib.import_module("sksparse.cholmod")
    except ImportError as problem:
        print(json.dumps({"step": "cold", "peer": "CHOLMOD", "absent": str(problem)}))
        return
    for order in ("amd", "metis"):
        try:
            ms_factor, factor = timed(lambda: cholmod.cholesky(matrix, ordering_method=order))
        except Exception as problem:
            print(json.dumps({"step": "cold", "peer": "CHOLMOD " + order, "absent": str(problem)}))
            continue
        name = "CHOLMOD " + order
        ms_again, _ = timed(lambda: factor.cholesky_inplace(matrix))
        ms_solve, u = timed(lambda: factor(right))
        report("factor", name, ms_factor)
        report("refactor", name, ms_again)
        report("solve", name, ms_solve)
        report("warm impact", name + ", the solve alone", ms_solve)
        total = ms_assembly + ms_condense + ms_factor + ms_solve
        report("cold", "scikit-fem + " + name, total, *facts(u))


def with_calculix():
    ccx = shutil.which("ccx")
    if ccx is None:
        print(json.dumps({"step": "cold", "peer": "CalculiX", "absent": "ccx is not installed"}))
        return
    from array import array

    def read(name, kind):
        numbers = array(kind)
        with open(os.path.join(FOLDER, name), "rb") as file:
            numbers.frombytes(file.read())
        return numbers

    vertices, tets, fixed = read("vertices", "d"), read("tets", "I"), read("fixed", "I")
    loads, (lam, mu) = read("loads", "d"), read("material", "d")
    young, poisson = mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))
    with open(os.path.join(FOLDER, "beam.inp"), "w") as deck:
        deck.write("*NODE, NSET=ALL\n")
        for n in range(len(vertices) // 3):
            deck.write("%d,%.17g,%.17g,%.17g\n" % (n + 1, *vertices[3 * n : 3 * n + 3]))
        deck.write("*ELEMENT, TYPE=C3D4, ELSET=E\n")
        for n in range(len(tets) // 4):
            deck.write("%d,%d,%d,%d,%d\n" % (n + 1, *(v + 1 for v in tets[4 * n : 4 * n + 4])))
        deck.write("*MATERIAL, NAME=M\n*ELASTIC\n%.17g,%.17g\n" % (young, poisson))
        deck.write("*SOLID SECTION, ELSET=E, MATERIAL=M\n*BOUNDARY\n")
        for node in fixed:
            deck.write("%d,1,3\n" % (node + 1))
        deck.write("*STEP\n*STATIC\n*CLOAD\n")
        for n, force in enumerate(loads):
            if force:
                deck.write("%d,%d,%.17g\n" % (n // 3 + 1, n % 3 + 1, force))
        deck.write("*NODE PRINT, NSET=ALL\nU\n*END STEP\n")
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([ccx, "-i", "beam"], cwd=FOLDER, stdout=subprocess.DEVNULL, check=True)
        times.append(1e3 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before))
    largest = 0.0
    with open(os.path.join(FOLDER, "beam.dat")) as found:
        for line in found:
            words = line.split()
            if len(words) == 4 and words[0].isdigit():
                largest = max(largest, sum(float(x) ** 2 for x in words[1:]) ** 0.5)
    report("cold", "CalculiX, a whole run", sorted(times)[1], largest)


with_python()
with_calculix()
