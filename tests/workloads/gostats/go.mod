// The sample target: a program of its own, built with what Go brings.
module gostats

go 1.19
