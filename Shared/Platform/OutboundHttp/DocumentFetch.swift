internal import Foundation

/// Fetches a document from an address that a person typed. An attacker who can make a server ask somewhere could reach addresses that only the server
/// reaches. So each address on the way is checked. The connection goes to the very address that was checked, whatever the name means a moment later.
public struct DocumentFetch: Sendable {
    /// The limits of a fetch, and the addresses where it may go.
    public struct Limits: Sendable {
        /// Octets of the document.
        public var largest: Int
        /// For the whole way, names and redirects included.
        public var time: Duration
        /// How often the way may go on elsewhere.
        public var redirects: Int
        /// True: also to this machine and to private networks, and by plain HTTP.
        public var allowsPrivate: Bool

        public init(largest: Int = 256 * 1024, time: Duration = .seconds(8), redirects: Int = 3, allowsPrivate: Bool = false) {
            self.largest = largest
            self.time = time
            self.redirects = redirects
            self.allowsPrivate = allowsPrivate
        }
    }

    /// A document, and where it was in the end.
    public struct Document: Hashable, Sendable {
        public let body: [UInt8]
        public let url: String
    }

    /// Why there is no document; goes on from the address.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case malformed(String)
        case privateNetwork(host: String)
        case unknownName(host: String)
        case tooManyRedirects
        case status(Int)
        case tooLarge(Int)
        case tooSlow
        case unreachable(host: String)
        /// The answer of the proxy on the way, or its silence.
        case proxy(String)
        /// The document is coded in a way that is not decoded, or decodes to too much.
        case coding(String)

        public var description: String {
            switch self {
            case .malformed(let problem): problem
            case .privateNetwork(let host): "leads to '\(host)', which is this machine or in a private network; nothing is fetched from there"
            case .unknownName(let host): "leads to '\(host)', a name that nobody knows"
            case .tooManyRedirects: "leads from one address to the next without an end"
            case .status(let status): "was answered with \(status) instead of a document"
            case .tooLarge(let most): "has more than \(most) bytes"
            case .tooSlow: "was not answered in time"
            case .unreachable(let host): "cannot be reached: no good connection to '\(host)'"
            case .proxy(let trouble): "cannot be reached: \(trouble)"
            case .coding(let problem): "cannot be read: \(problem)"
            }
        }
    }

    private let limits: Limits
    private let names: any NameResolving
    private let carrier: any PinnedCarrier

    /// - Parameter options: Who asks, and by which proxies; a proxy gets the address that was checked, also where it looks up other names itself.
    public init(limits: Limits = Limits(), _ options: OutboundOptions = OutboundOptions()) {
        self.init(limits: limits, names: SystemNames(), carrier: PinnedHttp(options: options))
    }

    init(limits: Limits, names: any NameResolving, carrier: any PinnedCarrier) {
        self.limits = limits
        self.names = names
        self.carrier = carrier
    }

    /// - Throws: `Refusal`.
    public func document(at url: String) async throws(Refusal) -> Document {
        let end = ContinuousClock.now + limits.time
        var place = try FetchPlace(url, limits)
        for _ in 0...limits.redirects {
            let address = try await address(of: place.host, until: end)
            let answer = try await carrier.get(place, at: address, largest: limits.largest, timeLeft: Self.left(until: end))
            switch answer.status {
            case 200, 201: return Document(body: answer.body, url: place.url)
            case 301, 302, 303, 307, 308:
                guard let location = answer.header("location") else { throw .status(answer.status) }
                place = try FetchPlace(place.absolute(location), limits)
            default: throw .status(answer.status)
            }
        }
        throw .tooManyRedirects
    }

    /// One that may be asked; a name that also leads elsewhere than to the public internet is asked nowhere.
    private func address(of host: String, until end: ContinuousClock.Instant) async throws(Refusal) -> ResolvedAddress {
        let found = try await names.addresses(of: host, timeLeft: Self.left(until: end))
        guard let first = found.first else { throw .unknownName(host: host) }
        guard limits.allowsPrivate || found.allSatisfy({ PublicAddress.contains($0.octets) }) else { throw .privateNetwork(host: host) }
        return first
    }

    private static func left(until end: ContinuousClock.Instant) throws(Refusal) -> Duration {
        let left = end - .now
        guard left > .zero else { throw .tooSlow }
        return left
    }
}

/// An address on the way to a document, in a form that everybody reads alike.
struct FetchPlace: Hashable, Sendable {
    let url: String
    /// Lower-case letters, digits, dots and hyphens; or an IPv6 address without brackets.
    let host: String
    var port: Int { components.port ?? (components.scheme == "http" ? 80 : 443) }
    private let components: URLComponents

    /// - Throws: `malformed`.
    init(_ text: String, _ limits: DocumentFetch.Limits) throws(DocumentFetch.Refusal) {
        guard text.utf8.count <= 2048, var parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
            !host.isEmpty
        else { throw .malformed("must be an absolute https URL of at most 2048 bytes") }
        guard scheme == "https" || scheme == "http" && limits.allowsPrivate else { throw .malformed("must begin with https://") }
        guard parts.user == nil, parts.password == nil else { throw .malformed("must not hold a user or a password") }
        parts.scheme = scheme
        parts.fragment = nil
        let name = host.lowercased()
        let bare = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        let isLiteral = bare.utf8.contains(UInt8(ascii: ":"))
        let isPlain = bare.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): true
            default: isLiteral && octet == UInt8(ascii: ":")
            }
        }
        guard isPlain, bare.utf8.count <= 253 else { throw .malformed("must have a host of letters, digits, dots and hyphens") }
        if !isLiteral { parts.host = name }
        guard let url = parts.string else { throw .malformed("must be an absolute https URL of at most 2048 bytes") }
        (self.url, self.host, components) = (url, bare, parts)
    }

    /// A `Location`, which may leave out what stays.
    func absolute(_ location: String) -> String {
        guard let base = components.url, let url = URL(string: location, relativeTo: base) else { return location }
        return url.absoluteString
    }
}
