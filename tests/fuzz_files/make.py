"""Writes the meshes and pictures of this folder: `python3 make.py`."""

import struct
import zlib

VERTICES = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
# corners are counter-clockwise seen from outside
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]


def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def normal(triangle):
    a, b, c = (VERTICES[v] for v in triangle)
    u, v = ([q - p for p, q in zip(a, x)] for x in (b, c))
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    return [x / 4 for x in n]


def obj():
    lines = ["v %d %d %d" % v for v in VERTICES]
    lines += ["f %d %d %d" % tuple(v + 1 for v in t) for t in TRIANGLES]
    write("cube.obj", "\n".join(lines) + "\n")
    lines = ["# painted", "mtllib cube.mtl", "o first"]
    lines += ["v %g %g %g 0.5 0.25 1" % v for v in VERTICES]
    lines += ["vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1", "vn 0 0 1", "s off", "usemtl clay"]
    lines += ["f " + " ".join("%d/%d/1" % (v + 1, k + 1) for k, v in enumerate(q)) for q in QUADS]
    lines += ["o second"]
    lines += ["v %g %g %g 0 0 0" % (x + 3, y, z) for x, y, z in VERTICES]
    lines += ["f " + " ".join("%d//-1" % (v - 8) for v in q) for q in QUADS]
    write("painted.obj", "\n".join(lines) + "\n")


def stl():
    data = b"cube".ljust(80) + struct.pack("<I", len(TRIANGLES))
    text = "solid cube\n"
    for t in TRIANGLES:
        corners = [VERTICES[v] for v in t]
        data += struct.pack("<12fH", *normal(t), *(x for c in corners for x in c), 0)
        text += "facet normal %g %g %g\nouter loop\n" % tuple(normal(t))
        text += "".join("vertex %g %g %g\n" % c for c in corners) + "endloop\nendfacet\n"
    write("cube.stl", data)
    write("cube_text.stl", text + "endsolid cube\n")


def ply():
    head = "ply\nformat %s 1.0\ncomment a cube\nelement vertex 8\n"
    head += "".join("property float %s\n" % axis for axis in "xyz")
    head += "property uchar red\nproperty uchar green\nproperty uchar blue\n"
    head += "element face 6\nproperty list uchar int vertex_indices\nend_header\n"
    data = (head % "binary_little_endian").encode()
    data += b"".join(struct.pack("<3f3B", *v, 10, 20, 30) for v in VERTICES)
    write("cube.ply", data + b"".join(struct.pack("<B4i", 4, *q) for q in QUADS))
    text = head % "ascii"
    text += "".join("%d %d %d 10 20 30\n" % v for v in VERTICES)
    write("cube_text.ply", text + "".join("4 %d %d %d %d\n" % q for q in QUADS))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(name, colour, rows, *others):
    head = struct.pack(">IIBBBBB", 6, 5, 8, colour, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(others)
    write(name, data + chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def pictures():
    places = [[(3 * x // 6) + 2 * (y // 3) for x in range(6)] for y in range(5)]
    colours = [(200, 0, 0), (0, 200, 0), (0, 0, 200), (9, 9, 9), (90, 90, 90)]
    png("regions.png", 2, [b"".join(bytes(colours[p]) for p in row) for row in places])
    palette = chunk(b"PLTE", b"".join(bytes(c) for c in colours))
    png("palette.png", 3, [bytes(row) for row in places], palette, chunk(b"tRNS", b"\xff\x80"))


obj()
stl()
ply()
pictures()
