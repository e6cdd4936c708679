#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Testing

/// A socket that sends and reads only on demand.
struct DeafClient: Sendable {
    private let descriptor: Int32

    /// - Parameter receiveBuffer: Bytes that the system takes in unread; `nil`: as many as it likes.
    init(_ port: Int, receiveBuffer: Int32? = nil) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        if var size = receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        try #require(result == 0, "cannot connect: \(errno)")
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// - Returns: Bytes that were taken; `nil` when there was no room within the time, or the connection is over.
    func send(_ bytes: [UInt8], within limit: Duration) async throws -> Int? {
        let end = ContinuousClock.now.advanced(by: limit)
        while true {
            let count = write(descriptor, bytes, bytes.count)
            if count > 0 { return count }
            guard errno == EAGAIN, ContinuousClock.now < end else { return nil }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Says that nothing more will be sent.
    func closeOutput() {
        #if canImport(Glibc)
        shutdown(descriptor, Int32(SHUT_WR))
        #else
        shutdown(descriptor, SHUT_WR)
        #endif
    }

    /// Takes what comes, a little at a time, until the other end closes.
    /// - Returns: `nil` when it did not close within the time, or broke off.
    func readToEnd(within limit: Duration) async throws -> [UInt8]? {
        let end = ContinuousClock.now.advanced(by: limit)
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        while ContinuousClock.now < end {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { return all }
            if count > 0 {
                all += piece[..<count]
            } else {
                guard errno == EAGAIN else { return nil }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        return nil
    }

    /// Resets the connection.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #else
        _ = Darwin.close(descriptor)
        #endif
    }
}
