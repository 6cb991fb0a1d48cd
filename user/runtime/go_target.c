/* SPDX-License-Identifier: MIT */
/* Is it a Go program, and what does it say of itself? */
#include "user/runtime/runtime.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/runtime/go_impl.h"

const char *const go_point_names[NR_GO_POINTS] = {
#define POINT(id, name, function, other) name,
#include "user/runtime/go_points.def"
#undef POINT
};

const char *const go_point_functions[NR_GO_POINTS] = {
#define POINT(id, name, function, other) function,
#include "user/runtime/go_points.def"
#undef POINT
};

const char *const go_data_names[NR_GO_DATA] = {
#define GO_DATA(id, name, other) name,
#include "user/runtime/go_data.def"
#undef GO_DATA
};

const struct go_field_name go_field_names[NR_GO_FIELDS] = {
#define GO_FIELD(id, type, member, ...) { type, member },
#include "user/runtime/go_layouts.def"
#undef GO_FIELD
};

#define NOTE_GO_BUILD_ID 4 /* Go src/cmd/link/internal/ld/elf.go, ELF_NOTE_GOBUILDID_TAG */

static void copy_settings(const struct go_buildinfo *info, struct go_target *go)
{
	struct span key, value;
	size_t cursor = 0, used = 0;

	while (go_buildinfo_next_setting(info, &cursor, &key, &value)) {
		size_t left = sizeof(go->settings) - used;

		if (left < 3)
			return;
		span_copy_text(&key, go->settings + used, left);
		used += strlen(go->settings + used);
		left = sizeof(go->settings) - used;
		if (left < 3)
			return;
		go->settings[used++] = '=';
		span_copy_text(&value, go->settings + used, left - 1);
		used += strlen(go->settings + used);
		if (used < sizeof(go->settings) - 1)
			go->settings[used++] = '\n';
	}
}

static void copy_info(const struct go_buildinfo *info, struct go_target *go)
{
	struct go_version version;
	struct span text;

	span_copy_text(&info->version, go->version_text, sizeof(go->version_text));
	if (go_version_parse(go->version_text, &version) && version.major == 1) {
		go->minor = version.minor;
		go->patch = version.patch;
	}
	if (go_buildinfo_line(info, "path", 0, &text))
		span_copy_text(&text, go->path, sizeof(go->path));
	if (go_buildinfo_line(info, "mod", 0, &text))
		span_copy_text(&text, go->module, sizeof(go->module));
	if (go_buildinfo_line(info, "mod", 1, &text))
		span_copy_text(&text, go->module_version, sizeof(go->module_version));
	go->cgo = go_buildinfo_setting(info, "CGO_ENABLED", &text) && span_is(&text, "1");
	copy_settings(info, go);
}

static bool match(const struct elf_file *file, struct target *target)
{
	struct go_target *go = &target->go;
	struct go_buildinfo info;
	struct err err = { { 0 } };
	struct span note;
	bool has_note = elf_find_note(file, "Go", NOTE_GO_BUILD_ID, &note);

	if (has_note)
		span_copy_text(&note, go->build_id, sizeof(go->build_id));
	if (!go_buildinfo_read(file, &info, &err)) {
		copy_info(&info, go);
		return true;
	}
	snprintf(go->info_why, sizeof(go->info_why), "%.*s", (int)sizeof(go->info_why) - 1,
		 err.text);
	return has_note || elf_find_section(file, ".gopclntab") ||
	       elf_find_section(file, ".data.rel.ro.gopclntab");
}

const struct runtime_ops runtime_go = {
	.name = "Go",
	.match = match,
	.layout = go_layout,
	.resolve = go_resolve,
};
