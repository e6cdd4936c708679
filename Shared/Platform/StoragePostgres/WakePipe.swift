internal import Glibc

/// Wakes a thread that waits for a descriptor.
final class WakePipe: Sendable {
    let readEnd: CInt
    private let writeEnd: CInt

    init() {
        var ends: [CInt] = [-1, -1]
        // Without descriptors left nothing of the program works.
        precondition(pipe(&ends) == 0, "no descriptors are left: \(String(cString: strerror(errno)))")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func wake() {
        var octet: UInt8 = 1
        // A full pipe wakes as well.
        _ = write(writeEnd, &octet, 1)
    }

    func clear() {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { octets in
            while read(readEnd, octets.baseAddress, octets.count) == octets.count {}
        }
    }
}
