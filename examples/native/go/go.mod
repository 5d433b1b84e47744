module onlinekern/stream

go 1.21
