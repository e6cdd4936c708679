package import Catalogue
package import Clocks
package import Contracts
internal import CoreMetrics
internal import Cryptography
package import Faults
package import Logging
internal import Memos
internal import Synchronization
package import Tokens

/// Checks requests that apps sign with a key pair of their application (clients §2).
package struct SignedRequestCheck: Sendable {
    /// One is refused for one of these reasons: for the log and the metric, never for the caller.
    enum Cause: String {
        case unknownKey = "unknown_key"
        case signature, time, syntax, requestor, replay, plain
    }

    /// Seconds of a pair that has no window of its own: clocks of televisions are wrong.
    private static let window: UInt32 = 86_400
    /// Signed with where there is no key, so that an unknown key costs the same as a wrong signature.
    private static let nobody = [UInt8](repeating: 0x2a, count: 32)

    package let secrets: RecentSecrets
    let nonces: UsedNonces
    package let clock: any WallClock
    package let logger: Logger
    private let refusals = Memo<Cause, Counter>(capacity: 16)

    /// - Throws: `access_denied`, the same text for every cause; `too_many_requests` (nonces of a strict pair); faults of the store.
    package func client(_ request: SignedRequest, in catalogue: Catalogue) async throws(Fault) -> AuthenticatedClient {
        guard let header = SignedRequestHeader(request.header) else { throw refusal(.syntax, nil) }
        let found = catalogue.signingKey(header.publicKey)
        let now = clock.now()
        let usable = found.flatMap { Self.isUsable($0.key, now) ? $0 : nil }
        var secret: ProviderSecret?
        if let usable { secret = try await secrets.secret(SecretReference(usable.key.secretReference)) }
        let code = HMACSHA1.authenticate(Array(header.signedText.utf8), key: secret.map { Array($0.text.utf8) } ?? Self.nobody)
        let isSigned = ConstantTime.equal(code, header.signature)
        guard let (application, key) = usable, secret != nil else { throw refusal(.unknownKey, header) }
        guard isSigned else { throw refusal(.signature, header) }
        let window = Duration.seconds(Int64(key.windowSeconds == 0 ? Self.window : key.windowSeconds))
        let time = Timestamp(milliseconds: header.time)
        guard time >= now - window, time <= now + window else { throw refusal(.time, header) }
        let requestors = key.requestorIDs.filter { application.requestorIDs.contains($0) }
        guard requestors.contains(where: { OctetText($0) == OctetText(header.requestorID) }) else { throw refusal(.requestor, header) }
        guard !request.isPlain || key.strict else { throw refusal(.plain, header) }
        let isOfThisCall = Self.isOf(header, request)
        if key.strict {
            guard isOfThisCall else { throw refusal(.replay, header) }
            let isNew = try await nonces.take(header, until: time + window, address: request.clientAddress, now: now)
            guard isNew else { throw refusal(.replay, header) }
        } else if !isOfThisCall {
            logger.debug("signed_request.of_another_call", metadata: ["application": "\(application.id)"])
        }
        return AuthenticatedClient(
            id: ClientDirectory.id(ofKey: key.publicKey), application: application, scopes: ClientDirectory.sharedScopes,
            expiresAt: time + window, catalogue: catalogue, isShared: true, signsFor: requestors)
    }

    private static func isUsable(_ key: RequestSigningKey, _ now: Timestamp) -> Bool {
        let instant = UInt64(clamping: now.milliseconds)
        return !key.disabled && instant >= key.fromMilliseconds && (key.untilMilliseconds == 0 || instant < key.untilMilliseconds)
    }

    /// True when the address that was signed is the call's: the whole address, the whole path, or the path behind `/api/v1` or
    /// `/reggie/v1/{requestor}` (clients §2). A query that was signed is the call's; one that was not is not covered.
    package static func isOf(_ header: SignedRequestHeader, _ request: SignedRequest) -> Bool {
        guard sameOctets(header.method, request.method) else { return false }
        let signed = parts(path(ofAddress: header.requestURI[...]))
        let sent = parts(path(ofAddress: request.target[...]))
        if let query = signed.query, query != sent.query { return false }
        guard signed.path.utf8.first == UInt8(ascii: "/") else { return false }
        if signed.path == sent.path { return true }
        // A whole address is signed with its whole path.
        guard header.requestURI.utf8.first == UInt8(ascii: "/") else { return false }
        return behindBase(sent.path) == signed.path
    }

    private static func path(ofAddress address: Substring) -> Substring {
        guard address.utf8.starts(with: "http://".utf8) || address.utf8.starts(with: "https://".utf8) else { return address }
        let rest = address.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        return Substring(rest.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
    }

    private static func parts(_ address: Substring) -> (path: Substring, query: Substring?) {
        guard let mark = address.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (address, nil) }
        return (address[..<mark], address[address.utf8.index(after: mark)...])
    }

    /// - Returns: The path without the part that its family has in common; `nil` where it has none.
    private static func behindBase(_ path: Substring) -> Substring? {
        if path.utf8.starts(with: "/api/v1/".utf8) { return Substring(path.utf8.dropFirst("/api/v1".utf8.count)) }
        let base = "/reggie/v1/"
        guard path.utf8.starts(with: base.utf8) else { return nil }
        let rest = path.utf8.dropFirst(base.utf8.count).drop { $0 != UInt8(ascii: "/") }
        return rest.isEmpty ? nil : Substring(rest)
    }

    private func refusal(_ cause: Cause, _ header: SignedRequestHeader?) -> Fault {
        refusals.value(cause) {
            Counter(label: "boxoffice_authentication_signed_requests_refused_total", dimensions: [("cause", cause.rawValue)])
        }.increment()
        var metadata: Logger.Metadata = ["cause": "\(cause.rawValue)"]
        // A key is public; text that belongs to none is whatever a stranger sends.
        if cause != .unknownKey, let header { metadata["public_key"] = "\(header.publicKey)" }
        logger.info("signed_request.refused", metadata: metadata)
        return Fault(.accessDenied, "The signed request is not accepted.")
    }
}

/// The nonces that strict pairs have signed, so that each serves once (clients §2). The store remembers; how many there are each copy counts since
/// its start.
final class UsedNonces: Sendable {
    private static let perAddress = 2_000
    private static let perKey = 1_000_000
    /// Addresses that are counted at one time.
    private static let capacity = 1 << 16

    private struct State {
        var addresses: [OctetText: ExpiryCounts] = [:]
        var keys: [OctetText: ExpiryCounts] = [:]
    }

    private let store: SqlAuthenticationStore
    private let state = Mutex(State())

    init(store: SqlAuthenticationStore) { self.store = store }

    /// - Parameter end: From when on the signature is too old in any case.
    /// - Returns: False when it was used before.
    /// - Throws: `too_many_requests`; faults of the store.
    func take(_ header: SignedRequestHeader, until end: Timestamp, address: String, now: Timestamp) async throws(Fault) -> Bool {
        let isCounted = state.withLock { state in
            Self.add(&state.keys, header.publicKey, end, Self.perKey, now) && Self.add(&state.addresses, address, end, Self.perAddress, now)
        }
        guard isCounted else { throw Fault(.tooManyRequests, "Too many signed requests.", retryAfter: .seconds(60)) }
        let digest = SHA256.hash(Array("\(header.publicKey)\n\(header.nonce)".utf8))
        return try await store.takeNonce(digest, until: end)
    }

    private static func add(_ counts: inout [OctetText: ExpiryCounts], _ name: String, _ end: Timestamp, _ limit: Int, _ now: Timestamp) -> Bool {
        let key = OctetText(name)
        if counts[key] == nil, counts.count >= capacity { counts = counts.filter { $0.value.end > now.seconds } }
        // With no room for another name it goes uncounted: what is counted already stays.
        guard counts[key] != nil || counts.count < capacity else { return true }
        return counts[key, default: ExpiryCounts()].add(endingAt: end.seconds, limit: limit, now: now.seconds)
    }
}
