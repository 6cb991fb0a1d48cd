/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Numbers that follow from the tables (*.def): ids of families, cells, reasons, drops, groups. */
#ifndef SKYOBSERVE_FAMILIES_H
#define SKYOBSERVE_FAMILIES_H

enum off_reason {
#define REASON(id, label, help) REASON_##id,
#include "reasons.def"
#undef REASON
	NR_REASONS
};

enum stop_reason {
#define STOP(id, label, help) STOP_##id,
#include "stops.def"
#undef STOP
	NR_STOP_REASONS
};

/* Reasons below this one are waits for a CPU. */
#define NR_WAIT_REASONS REASON_BLOCK_IO

enum durable_call {
#define DURABLE(id, call, via) DURABLE_##id,
#include "durable.def"
#undef DURABLE
	NR_DURABLES
};

#define NR_DURABLE_SYSCALLS DURABLE_URING_FSYNC

enum drop_reason {
#define DROP(id, label, help) DROP_##id,
#include "drops.def"
#undef DROP
	NR_DROPS
};

enum probe_group {
#define GROUP(id, label, help) GROUP_##id,
#include "groups.def"
#undef GROUP
	NR_GROUPS
};

enum cpu_mode {
	MODE_USER,
	MODE_SYSTEM,
	NR_MODES
};

enum switch_kind {
	SWITCH_VOLUNTARY,
	SWITCH_INVOLUNTARY,
	NR_SWITCH_KINDS
};

/* Cells per value of a dimension. */
#define DIM_SIZE_NONE	 1
#define DIM_SIZE_MODE	 NR_MODES
#define DIM_SIZE_REASON	 NR_REASONS
#define DIM_SIZE_SWITCH	 NR_SWITCH_KINDS
#define DIM_SIZE_DURABLE NR_DURABLES

/* CELL_<ID> is the first cell of a row; a row with a dimension goes on for its size. */
enum cell_id {
#define CELLS(id, name, unit, dim, method, error, help) \
	CELL_##id, CELL_##id##_LAST = CELL_##id + DIM_SIZE_##dim - 1,
#define BOOK(id, help) CELL_##id,
#define FAMILY(id, name, unit, type, method, error, help)
#define EXPORTER(id, name, type, help)
#include "families.def"
#undef CELLS
#undef BOOK
#undef FAMILY
#undef EXPORTER
	NR_CELLS
};

enum family_id {
#define CELLS(id, name, unit, dim, method, error, help) FAM_##id,
#define BOOK(id, help)
#define FAMILY(id, name, unit, type, method, error, help) FAM_##id,
#define EXPORTER(id, name, type, help)			  FAM_##id,
#include "families.def"
#undef CELLS
#undef BOOK
#undef FAMILY
#undef EXPORTER
	NR_FAMILIES
};

#endif /* SKYOBSERVE_FAMILIES_H */
