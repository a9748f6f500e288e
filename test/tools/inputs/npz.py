"""npz.py ARCHIVE stored|deflated|damaged|cut|long NAME=FILE...: an archive as NumPy writes it, or a broken one.

damaged: a byte in the middle of the last member's data is another one. cut: the last third is missing. long: the
members' data goes on for 64 MB.
"""
import pathlib
import sys
import zipfile


def main(archive, how, *members):
    stored = how in ("stored", "damaged")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as out:
        for member in members:
            name, file = member.split("=", 1)
            data = pathlib.Path(file).read_bytes()
            out.writestr(name, data + bytes(64 << 20) if how == "long" else data)
        last = out.infolist()[-1]
    data = bytearray(pathlib.Path(archive).read_bytes())
    if how == "damaged":
        data[last.header_offset + 30 + len(last.filename) + last.file_size - 1] ^= 0x40
    pathlib.Path(archive).write_bytes(data[: len(data) * 2 // 3] if how == "cut" else data)


main(*sys.argv[1:])
