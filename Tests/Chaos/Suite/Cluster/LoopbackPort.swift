import Glibc

/// A port on loopback, seen from outside.
enum LoopbackPort {
    /// True when a connection to it is accepted.
    static func answers(_ port: Int) -> Bool { withSocket(port) { connect($0, $1, $2) == 0 } }

    /// True when nobody listens there.
    static func isFree(_ port: Int) -> Bool { withSocket(port) { bind($0, $1, $2) == 0 } }

    /// The first of so many free ports in a row.
    static func freeBase(count: Int) throws -> Int {
        for _ in 0..<50 {
            let candidate = Int.random(in: 20_000...31_000)
            if (0..<count).allSatisfy({ isFree(candidate + $0) }) { return candidate }
        }
        throw ChaosFailure("no \(count) free ports in a row; give some with --port-base")
    }

    private static func withSocket(_ port: Int, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
