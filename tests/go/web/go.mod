// SPDX-License-Identifier: MIT
module example.org/web

go 1.19
