// SPDX-License-Identifier: MIT
module example.org/small

go 1.19
