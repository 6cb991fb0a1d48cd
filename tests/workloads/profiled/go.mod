module profiled

go 1.19
