#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A lint that finds nothing is worth nothing: each rule is shown a fault, and something like it that is fine."""

import sys

sys.dont_write_bytecode = True

import tempfile
from pathlib import Path

import lint

MIT = "/* SPDX-License-Identifier: MIT */\n"
GPL = "/* SPDX-License-Identifier: GPL-2.0-only */\n"
BOTH = "/* SPDX-License-Identifier: GPL-2.0-only OR MIT */\n"


def guarded(name, licence=MIT):
    return f"{licence}#ifndef SKYOBSERVE_{name}_H\n#define SKYOBSERVE_{name}_H\n#endif\n"


# case: files of a tree, and what the only fault must contain ("" if there must be none).
CASES = {
    "good_tree": ({"user/base/err.h": guarded("BASE_ERR"), "user/model/a.c": MIT + '#include "user/base/err.h"\n'}, ""),
    "libbpf_outside_its_stage": ({"user/model/a.c": MIT + "#include <bpf/libbpf.h>\n"}, "libbpf"),
    "libbpf_in_its_stage": ({"user/bpf/a.c": MIT + "#include <bpf/libbpf.h>\n"}, ""),
    "elf_outside_its_stage": ({"user/cmd/a.c": MIT + "#include <gelf.h>\n"}, "libelf"),
    "zlib_outside_its_stage": ({"user/model/a.c": MIT + "#include <zlib.h>\n"}, "zlib"),
    "http_outside_its_stage": ({"user/cmd/a.c": MIT + "#include <microhttpd.h>\n"}, "libmicrohttpd"),
    "stage_includes_stage": ({"user/bpf/b.h": guarded("BPF_B"), "user/http/a.c": MIT + '#include "user/bpf/b.h"\n'},
                             "http may include"),
    "stage_includes_stage_by_a_relative_path": ({"user/bpf/b.h": guarded("BPF_B"),
                                                 "user/http/a.c": MIT + '#include "user/http/../bpf/b.h"\n'},
                                                "http may include"),
    "cmd_includes_stages": ({"user/bpf/b.h": guarded("BPF_B"), "user/cmd/a.c": MIT + '#include "user/bpf/b.h"\n'}, ""),
    "model_includes_a_stage": ({"user/bpf/b.h": guarded("BPF_B"), "user/model/a.c": MIT + '#include "user/bpf/b.h"\n'},
                               "model may include"),
    "base_includes_model": ({"user/model/b.h": guarded("MODEL_B"), "user/base/a.c": MIT + '#include "user/model/b.h"\n'},
                            "base may include only itself"),
    "kernel_side_includes_user": ({"user/base/b.h": guarded("BASE_B"), "bpf/a.bpf.h": GPL + '#include "user/base/b.h"\n'},
                                  "knows nothing"),
    "border_includes_user": ({"user/base/b.h": guarded("BASE_B"),
                              "include/a.h": guarded("A", BOTH) + '#include "../user/base/b.h"\n'}, "include/ includes only"),
    "no_licence": ({"user/base/a.c": "int a;\n"}, "no SPDX"),
    "wrong_licence": ({"bpf/hooks/a.bpf.c": MIT}, "here it is GPL-2.0-only"),
    "wrong_licence_on_the_border": ({"include/a.def": GPL}, "here it is GPL-2.0-only OR MIT"),
    "script_licence_on_the_second_line": ({"packaging/a.sh": "#!/bin/sh\n# SPDX-License-Identifier: MIT\n"}, ""),
    "long_bpf": ({"bpf/hooks/a.bpf.c": GPL + "\n" * 200}, "at most 200"),
    "long_main": ({"user/main.c": MIT + "\n" * 120}, "at most 120"),
    "long_file": ({"user/base/a.c": MIT + "\n" * 700}, "at most 700"),
    "banned_function": ({"user/base/a.c": MIT + "void f(char *a, char *b)\n{\n\tstrcpy (a, b);\n}\n"}, "strcpy"),
    "banned_word_in_text": ({"user/base/a.c": MIT + '/* strcpy() */\nconst char *a = "system(1)"; int filesystem(int);\n'},
                            ""),
    "snprintf_is_not_sprintf": ({"user/base/a.c": MIT + "int snprintf(char *, unsigned long, const char *, ...);\n"}, ""),
    "stray_file_on_the_top_level": ({"\x01@\x83": "", "README.md": ""}, "top level"),
    "wrong_guard": ({"user/base/a.h": guarded("BASE_B")}, "SKYOBSERVE_BASE_A_H"),
    "header_needs_another": ({"include/a.h": guarded("A", BOTH).replace("#endif", "u64 f(void);\n#endif")},
                             "does not compile alone"),
}


def fault_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return sorted({why for _, _, why in lint.lint(root)})


def main():
    failed = False
    for case, (files, want) in CASES.items():
        found = fault_of(files)
        good = len(found) >= 1 and all(want in why for why in found[:1]) if want else not found
        failed |= not good
        print(f"ok lint_{case}" if good else f"not ok lint_{case}: want '{want}', found {found}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
