internal import CResolver
internal import Faults
internal import NIOPosix

/// Asks name servers for SRV records, with glibc's resolver and what `resolv.conf` says.
package enum ServiceLookup {
    /// Records of one answer that are read.
    private static let mostRecords = 512

    /// - Parameters:
    ///   - name: Complete: no search domain is tried.
    ///   - server: The one to ask, an IPv4 address, in place of those of the system.
    /// - Returns: The records that the name has; the resolver waits for them on a thread of its own.
    /// - Throws: `unavailable` when the name has none, or no server answers.
    package static func records(of name: String, at server: RpcAddress? = nil) async throws -> [ServiceRecord] {
        try await NIOThreadPool.singleton.runIfActive { try resolve(name, server) }
    }

    private static func resolve(_ name: String, _ server: RpcAddress?) throws(Fault) -> [ServiceRecord] {
        var found = [boxoffice_srv_record](repeating: boxoffice_srv_record(), count: mostRecords)
        let count = found.withUnsafeMutableBufferPointer { buffer in
            boxoffice_resolve_srv(name, server?.host, UInt16(clamping: server?.port ?? 0), buffer.baseAddress, buffer.count)
        }
        guard count >= 0 else {
            let reason = boxoffice_resolve_reason(count).map { String(cString: $0) } ?? "unknown"
            throw Fault(.unavailable, "The SRV records of '\(name)' cannot be resolved: \(reason).")
        }
        return found.prefix(Int(count)).map { record in
            ServiceRecord(
                target: withUnsafeBytes(of: record.target) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }, port: Int(record.port),
                priority: Int(record.priority), weight: Int(record.weight), timeToLive: Int(record.ttl))
        }
    }
}
