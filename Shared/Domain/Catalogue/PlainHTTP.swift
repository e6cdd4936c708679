internal import Foundation

/// The hosts that may be called over plain HTTP. An answer is trusted because of TLS (mvpd §4.2), so only this machine, and the stand-ins of a test
/// set-up that the operator names.
public enum PlainHTTP {
    /// Hosts in `MVPD_STANDIN`, separated by commas: stand-ins for TV providers in a network of the operator's own, such as that of a set of
    /// containers. Never set it where real people sign in.
    private static let standIns = hosts(ProcessInfo.processInfo.environment["MVPD_STANDIN"] ?? "")

    /// - Parameter host: The host of an address, in any case; IPv6 with or without brackets.
    public static func isAllowed(_ host: String) -> Bool { isAllowed(host, standIns: standIns) }

    static func isAllowed(_ host: String, standIns: Set<String>) -> Bool {
        let host = host.lowercased()
        if ["localhost", "::1", "[::1]"].contains(host) || standIns.contains(host) { return true }
        // An IP address only: a name such as `127.example` may belong to another machine.
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    static func hosts(_ text: String) -> Set<String> {
        Set(text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty })
    }
}
