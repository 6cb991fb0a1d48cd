#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the uncompressed kernel out of a vmlinuz, and the type information (.BTF) out of that.

Knows file formats only. x86 gives an ELF file, which QEMU starts directly (PVH), arm64 a flat Image.
"""

import sys

sys.dont_write_bytecode = True

import bz2
import gzip
import lzma
import shutil
import struct
import subprocess
from pathlib import Path

import vmlib
from vmlib import VmError


def command(*argv):
    def unpack(packed):
        if not shutil.which(argv[0]):
            raise VmError(f"this kernel needs the program {argv[0]}, which is not installed")
        done = subprocess.run(argv, input=packed, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # The size that the kernel build appends makes some unpackers fail after good output.
        if not done.stdout:
            raise VmError(f"{argv[0]}: {done.stderr.decode(errors='replace').strip() or 'no output'}")
        return done.stdout
    return unpack


# Magic bytes of each compression that a kernel can be built with, and what unpacks it. The programs
# are used where Python's standard library has no module.
UNPACKERS = (
    (b"\x1f\x8b", gzip.decompress),
    (b"\xfd7zXZ\0", lambda b: lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(b)),
    (b"BZh", lambda b: bz2.BZ2Decompressor().decompress(b)),
    (b"\x5d\0\0", lambda b: lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(b)),
    (b"\x02\x21\x4c\x18", command("lz4", "-dc")),
    (b"\x28\xb5\x2f\xfd", command("zstd", "-dcq")),
    (b"\x89LZO", command("lzop", "-dc")),
)


def unpack(packed, path):
    for magic, unpacker in UNPACKERS:
        if packed.startswith(magic):
            return unpacker(packed)
    raise VmError(f"{path}: unknown compression, magic {packed[:6].hex()}")


def uncompressed_kernel(path):
    """
    x86 bzImage (Documentation/arch/x86/boot.rst):
        OFFSET  SIZE  MEANING
        0x1f1   1     number of 512-byte setup sectors after the first, 0 means 4
        0x202   4     "HdrS"
        0x248   4     payload_offset, from the end of the setup sectors
        0x24c   4     payload_length; its last 4 bytes are the unpacked size, except for gzip, whose
                      own trailer says it

    arm64 vmlinuz is an Image (Documentation/arch/arm64/booting.rst: "ARM\\x64" at 56), or one that is
    compressed as a whole, or an EFI zboot file (drivers/firmware/efi/libstub/zboot-header.S):
        4       4     "zimg"
        8       4     offset of the payload
        12      4     length of the payload
    """
    image = Path(path).read_bytes()
    if image[0x202:0x206] == b"HdrS":
        start = (1 + (image[0x1f1] or 4)) * 512 + struct.unpack_from("<I", image, 0x248)[0]
        length = struct.unpack_from("<I", image, 0x24c)[0]
        packed = image[start:start + length]
        kernel = unpack(packed if packed.startswith(b"\x1f\x8b") else packed[:-4], path)
        if not kernel.startswith(b"\x7fELF"):
            raise VmError(f"{path}: the payload is no ELF file")
        return kernel
    if image[4:8] == b"zimg":
        start, length = struct.unpack_from("<II", image, 8)
        image = unpack(image[start:start + length], path)
    elif image.startswith(b"\x1f\x8b"):
        image = unpack(image, path)
    if image[56:60] != b"ARM\x64":
        raise VmError(f"{path}: neither an x86 bzImage nor an arm64 Image")
    return image


def elf_section(elf, wanted):
    """Bytes of one section of a 64-bit little-endian ELF file, or None."""
    shoff, = struct.unpack_from("<Q", elf, 0x28)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", elf, 0x3a)

    def header(i):
        # sh_name, sh_type, sh_flags, sh_addr, sh_offset, sh_size
        return struct.unpack_from("<IIQQQQ", elf, shoff + i * shentsize)

    names = header(shstrndx)[4]
    for i in range(shnum):
        name, _, _, _, offset, size = header(i)
        if elf[names + name:elf.index(b"\0", names + name)] == wanted:
            return elf[offset:offset + size]
    return None


def btf_in_image(image):
    """
    Finds .BTF in a flat image by its header (Documentation/bpf/btf.rst), since no section table is left:
        0   2  magic 0xeb9f      4   4  hdr_len, 24         12  4  type_len
        2   1  version 1         8   4  type_off, 0         16  4  str_off, = type_len when nothing is between
        3   1  flags 0                                      20  4  str_len
    """
    magic = struct.pack("<HBBII", 0xeb9f, 1, 0, 24, 0)
    at = image.find(magic)
    while at >= 0:
        type_len, str_off, str_len = struct.unpack_from("<III", image, at + 12)
        end = at + 24 + str_off + str_len
        # The string section begins and ends with a zero byte; a kernel has far more than 64 KiB of types.
        if str_off == type_len > 65536 and end <= len(image) and image[end - 1] == image[at + 24 + str_off] == 0:
            return image[at:end]
        at = image.find(magic, at + 1)
    return None


def btf(kernel):
    found = elf_section(kernel, b".BTF") if kernel.startswith(b"\x7fELF") else btf_in_image(kernel)
    if not found:
        raise VmError("the kernel carries no type information (.BTF)")
    return found


def main():
    if len(sys.argv) not in (3, 4):
        raise VmError("usage: extract_vmlinux.py VMLINUZ KERNEL [BTF]")
    kernel = uncompressed_kernel(sys.argv[1])
    Path(sys.argv[2]).write_bytes(kernel)
    if len(sys.argv) == 4:
        Path(sys.argv[3]).write_bytes(btf(kernel))


if __name__ == "__main__":
    vmlib.main(main)
