internal import NIOCore

/// An HTTP proxy that opens tunnels to HTTPS servers (CONNECT, RFC 9110 §9.3.6).
public struct EgressProxy: Hashable, Sendable, CustomStringConvertible {
    /// User and password for the proxy; never printed.
    public struct Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        let user: String
        let password: String

        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        public var description: String { "[hidden]" }
        public var debugDescription: String { description }
    }

    /// A name, or an address without brackets.
    public let host: String
    /// 1 to 65535.
    public let port: Int
    /// Sent by Basic (RFC 7617); `nil`: none.
    public let credentials: Credentials?
    /// True: the proxy gets names and looks them up itself. False: it gets the address that was looked up here.
    public let resolvesNames: Bool

    public init(host: String, port: Int, credentials: Credentials? = nil, resolvesNames: Bool = false) {
        self.host = host
        self.port = port
        self.credentials = credentials
        self.resolvesNames = resolvesNames
    }

    /// Host and port, without credentials.
    public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Servers that a rule for proxies is about.
public struct EgressTarget: Hashable, Sendable {
    /// For messages: the forms that are read.
    public static let accepted = "a host name, a domain with a dot before it, an IP address or a network such as 10.0.0.0/8"

    private enum Form: Hashable {
        case name(String)
        /// With the dot before it.
        case domain(String)
        case network([UInt8], bits: Int)
    }

    private let form: Form

    /// - Parameter text: `a.example` is that host alone, `.example` the domain and all hosts below it; `192.0.2.1`, `2001:db8::1`, `10.0.0.0/8`.
    /// - Returns: `nil` for another form.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if let octets = parts.first.flatMap({ Self.octets(String($0)) }) {
            guard parts.count == 2 else {
                guard parts.count == 1 else { return nil }
                form = .network(octets, bits: octets.count * 8)
                return
            }
            guard let bits = Int(parts[1]), (0...octets.count * 8).contains(bits) else { return nil }
            form = .network(octets, bits: bits)
            return
        }
        let name = text.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst(name.hasPrefix(".") ? 1 : 0)
        let isName =
            name.utf8.count <= 253 && !labels.isEmpty
            && labels.allSatisfy { label in
                !label.isEmpty
                    && label.utf8.allSatisfy {
                        (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    }
            }
        guard isName else { return nil }
        form = name.hasPrefix(".") ? .domain(name) : .name(name)
    }

    /// - Parameters:
    ///   - host: The host of the address, as it is written there.
    ///   - address: Where its name leads, 4 or 16 octets; `nil`: not looked up.
    func matches(host: String, address: [UInt8]?) -> Bool {
        switch form {
        case .name(let name): return host == name
        case .domain(let domain): return host.hasSuffix(domain) || host == domain.dropFirst()
        case .network(let base, let bits):
            guard let octets = address ?? Self.octets(host), octets.count == base.count else { return false }
            return (0..<bits).allSatisfy { bit in
                let mask = UInt8(0x80) >> (bit % 8)
                return octets[bit / 8] & mask == base[bit / 8] & mask
            }
        }
    }

    /// The octets of an address as it is written, without brackets; an IPv4 address inside IPv6 is one of IPv4.
    static func octets(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 45, let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        case .v4(let four): return withUnsafeBytes(of: four.address.sin_addr) { Array($0) }
        case .v6(let six):
            let octets = withUnsafeBytes(of: six.address.sin6_addr) { Array($0) }
            return octets.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) ? Array(octets.suffix(4)) : octets
        case .unixDomainSocket: return nil
        }
    }
}

/// Which proxy a call takes: none for `direct`, else that of the first rule about the server, else `standard`.
public struct EgressProxies: Hashable, Sendable {
    /// Servers that are reached in another way than all others.
    public struct Rule: Hashable, Sendable {
        public let targets: [EgressTarget]
        public let proxy: EgressProxy

        public init(targets: [EgressTarget], proxy: EgressProxy) {
            self.targets = targets
            self.proxy = proxy
        }
    }

    /// Reached without a proxy.
    public var direct: [EgressTarget]
    public var rules: [Rule]
    /// For all others; `nil`: none.
    public var standard: EgressProxy?

    public init(standard: EgressProxy? = nil, rules: [Rule] = [], direct: [EgressTarget] = []) {
        self.standard = standard
        self.rules = rules
        self.direct = direct
    }

    /// Nothing takes a proxy.
    public var isEmpty: Bool { standard == nil && rules.isEmpty }

    /// All of them, in the order of their rules.
    public var all: [EgressProxy] { rules.map(\.proxy) + (standard.map { [$0] } ?? []) }

    /// - Parameters:
    ///   - host: As the address names it, lower case, without brackets.
    ///   - address: Where it leads, as it is written; `nil`: not looked up.
    func proxy(for host: String, at address: String? = nil) -> EgressProxy? {
        guard !isEmpty else { return nil }
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        let octets = address.flatMap(EgressTarget.octets)
        func isOf(_ targets: [EgressTarget]) -> Bool { targets.contains { $0.matches(host: host, address: octets) } }
        guard !isOf(direct) else { return nil }
        return rules.first { isOf($0.targets) }?.proxy ?? standard
    }
}
