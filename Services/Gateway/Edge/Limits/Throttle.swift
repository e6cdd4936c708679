internal import CoreMetrics
internal import Hummingbird

/// Limits how often an address may call (rest-v1 §2.7).
final class Throttle: Sendable {
    /// 16 bytes each.
    static let capacity = 1 << 20

    private let limit: RequestRate.Limit
    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let rates: AddressTable<RequestRate>
    private let refused = Counter(label: "boxoffice_gateway_throttled_total")

    init(settings: ThrottleSettings, clock: any MonotonicClock, capacity: Int = Throttle.capacity) {
        limit = RequestRate.Limit(perSecond: settings.perSecond, burst: settings.burst)
        exempt = settings.exempt
        self.clock = clock
        rates = AddressTable(capacity: capacity)
    }

    /// Counts a request of the address.
    /// - Returns: False when it must be refused. An address that the transport does not tell is not limited: over TCP there is none such.
    func admits(_ client: ClientAddress) -> Bool {
        guard let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) }) else { return true }
        let now = clock.nanoseconds()
        let isAdmitted = rates.update(AddressKey(address), now: now) { $0.admit(at: now, limit) }
        if !isAdmitted { refused.increment() }
        return isAdmitted
    }
}

/// The object `gateway.throttle`: how many requests an address may make (rest-v1 §2.7).
public struct ThrottleSettings: Sendable {
    /// Requests per second and address that pass for ever, 1 to 1000000.
    public var perSecond: Int
    /// Requests that may come beside those at once, 0 to 1000000.
    public var burst: Int
    /// Registration codes that have not ended which an address may have, 1 to 1000000.
    public var codes: Int
    /// Client addresses that are neither throttled, nor paused for wrong codes, nor limited in codes; an address that a trusted proxy names is what
    /// counts.
    public var exempt: [AddressRange]

    public init(perSecond: Int = 1, burst: Int = 10, codes: Int = 1000, exempt: [AddressRange] = []) {
        self.perSecond = perSecond
        self.burst = burst
        self.codes = codes
        self.exempt = exempt
    }

    /// The first problem: key below `throttle` and text.
    var problem: (key: String, text: String)? {
        guard (1...1_000_000).contains(perSecond) else { return ("perSecond", "must be from 1 to 1000000") }
        guard (0...1_000_000).contains(burst) else { return ("burst", "must be from 0 to 1000000") }
        guard (1...1_000_000).contains(codes) else { return ("codes", "must be from 1 to 1000000") }
        return nil
    }
}

extension ThrottleSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case perSecond, burst, codes, exempt
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            perSecond: try container.decodeIfPresent(Int.self, forKey: .perSecond) ?? 1,
            burst: try container.decodeIfPresent(Int.self, forKey: .burst) ?? 10,
            codes: try container.decodeIfPresent(Int.self, forKey: .codes) ?? 1000,
            exempt: try AddressRange.list(container, .exempt))
    }
}

extension AddressRange {
    /// The blocks under a key; none when it is absent.
    static func list<Key: CodingKey>(_ container: KeyedDecodingContainer<Key>, _ key: Key) throws -> [AddressRange] {
        try (container.decodeIfPresent([String].self, forKey: key) ?? []).map { text in
            guard let range = AddressRange(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "must hold addresses or blocks like 10.0.0.0/8; one is '\(text)'")
            }
            return range
        }
    }
}

/// The requests that are throttled: those of apps and login pages (rest-v1 §2.7). Answers of MVPDs (§3.8) and of Apple, calls of programmers'
/// backends (§3.22, apple §4), pages, published documents and preflights are not.
enum ThrottledPaths {
    private static let prefixes = [
        "/o/client/", "/reggie/v1/", "/api/", "/adobe-services/", "/indiv/", "/auto-signin/v1/", "/apple/v1/",
    ]

    private static let open: Set = [
        "/apple/v1/callback", "/apple/v1/notifications", KnownPaths.oauthCallback, KnownPaths.oauthCallback + "/{mvpd}",
        "/adobe-services/logout", "/adobe-services/logout/oauth",
    ]

    static func contains(_ path: String) -> Bool {
        guard prefixes.contains(where: { path.hasPrefix($0) }), !open.contains(path) else { return false }
        return !isOfBackend(path)
    }

    private static func isOfBackend(_ path: String) -> Bool {
        path.hasPrefix("/auto-signin/v1/") && (path.contains("/accounts/") || path.hasSuffix("/rotate"))
    }

    /// - Parameter path: The path of the request.
    static func applies(to method: HTTPRequest.Method, _ path: String) -> Bool { method != .options && contains(path) }
}

/// Counts notifications that turn out not to be Apple's, by client address, in an account that nothing else is charged to. One that verifies is never
/// refused, whoever sent others from its address: it is the answer to the failed ones that changes (apple §2.9).
package final class NotificationThrottle: Sendable {
    /// 16 bytes each.
    static let capacity = 1 << 14
    /// A failed notification a second is answered as what it is for ever; this many more may come at once.
    static let burst = 60

    private let limit = RequestRate.Limit(perSecond: 1, burst: NotificationThrottle.burst)
    private let exempt: [AddressRange]
    private let clock: any MonotonicClock
    private let rates: AddressTable<RequestRate>
    private let failed = Counter(label: "boxoffice_gateway_notifications_failed_total")

    init(exempt: [AddressRange], clock: any MonotonicClock, capacity: Int = NotificationThrottle.capacity) {
        self.exempt = exempt
        self.clock = clock
        rates = AddressTable(capacity: capacity)
    }

    /// Counts a notification that did not verify.
    /// - Returns: Whole seconds, at least 1, after which its sender may fail again; `nil`: as long as it fails seldom.
    package func charge(_ client: ClientAddress) -> Int? {
        failed.increment()
        guard let address = IPAddress(client.text), !exempt.contains(where: { $0.contains(address) }) else { return nil }
        let now = clock.nanoseconds()
        return rates.update(AddressKey(address), now: now) { $0.admit(at: now, limit) ? nil : $0.wait(at: now, limit) }
    }
}
