// SPDX-License-Identifier: MIT

//go:build cgo

package main

// static int one(void) { return 1; }
import "C"

func foreign() int { return int(C.one()) }
