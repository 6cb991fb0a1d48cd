// SPDX-License-Identifier: MIT
module example.org/offsets

go 1.19
