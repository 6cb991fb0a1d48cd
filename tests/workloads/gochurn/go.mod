module gochurn

go 1.19
