// SPDX-License-Identifier: MIT

//go:build !cgo

package main

func foreign() int { return 0 }
