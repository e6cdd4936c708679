internal import Foundation

/// Addresses as messages may name them.
package enum WebAddress {
    /// Scheme, host, and the port where it is not the scheme's own: what a cookie belongs to here, and all of an address that may be printed.
    package static func origin(of address: String) -> String {
        guard let parsed = URL(string: address), let host = parsed.host, !host.isEmpty else { return "an address without a host" }
        let scheme = parsed.scheme?.lowercased() ?? "http"
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        guard let port = parsed.port, port != (scheme == "https" ? 443 : 80) else { return "\(scheme)://\(name)" }
        return "\(scheme)://\(name):\(port)"
    }

    /// Whether this machine answers there.
    package static func isLocal(_ address: String) -> Bool {
        guard let host = URL(string: address)?.host else { return false }
        return host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127.")
    }
}

/// An address whose requests go elsewhere, with the same `Host`: curl's `--connect-to`, for a network in which the addresses that browsers outside
/// use lead nowhere.
package struct Detour: Sendable, Equatable {
    let host: String
    let port: Int
    let target: String

    /// `BOXOFFICE_CONNECT_TO`: entries `HOST:PORT:TARGET-HOST:TARGET-PORT`, separated by commas; others are left out.
    static let ofEnvironment = (ProcessInfo.processInfo.environment["BOXOFFICE_CONNECT_TO"] ?? "").split(separator: ",").compactMap {
        Detour(String($0))
    }

    init?(_ text: String) {
        let parts = text.trimmingCharacters(in: .whitespaces).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, !parts[0].isEmpty, !parts[2].isEmpty, let port = UInt16(parts[1]), let targetPort = UInt16(parts[3]) else {
            return nil
        }
        (host, self.port, target) = (parts[0].lowercased(), Int(port), "\(parts[2]):\(targetPort)")
    }

    /// - Returns: Where to send the request, and its `Host`; `nil` for another address.
    func applied(to url: String) -> (url: String, host: String)? {
        guard let parts = URLComponents(string: url), parts.scheme == "http", parts.host?.lowercased() == host, (parts.port ?? 80) == port else {
            return nil
        }
        let authority = parts.port.map { "\(host):\($0)" } ?? host
        guard let range = url.range(of: authority, options: .caseInsensitive) else { return nil }
        return (url.replacingCharacters(in: range, with: target), authority)
    }
}
