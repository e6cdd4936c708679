package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
internal import StrictJson
package import Tokens

/// The key sets of MVPDs, by their addresses (mvpd §3), read again on a timer. A `kid` that is not in them causes at most one more read. A failed
/// signature causes at most one a minute.
package actor ProviderKeySets {
    /// Unknown names that are remembered per set; more are not looked for until the timer's next turn.
    private static let mostUnknown = 64
    /// After a read that failed, the old set serves for this long before the next attempt.
    private static let patience: Duration = .seconds(30)
    /// Between two reads because of a signature that failed: strangers can cause them.
    private static let pause: Duration = .seconds(60)

    private struct Entry {
        var provider: OAuthProvider
        var keys: JSONWebKeySet?
        var dueAt: Timestamp
        var unknown: Set<OctetText> = []
        /// The last read because of a signature that failed.
        var doubtedAt: Timestamp?
        var reading: Task<Result<JSONWebKeySet, Fault>, Never>?
    }

    private let client: ProviderClient
    private let clock: any WallClock
    private var entries: [OctetText: Entry] = [:]

    package init(client: ProviderClient, clock: any WallClock) {
        self.client = client
        self.clock = clock
    }

    /// - Parameter name: The `kid` of the token at hand.
    /// - Throws: Why the set cannot be read, when there is no older one.
    package func keys(of provider: OAuthProvider, for name: String?, budget: CallBudget) async throws(Fault) -> JSONWebKeySet {
        let address = provider.endpoint.jwksURL
        guard let entry = entries[address], let keys = entry.keys else { return try await read(provider, budget) }
        if clock.now() >= entry.dueAt { return await again(provider, budget) ?? keys }
        guard let name, keys.key(name) == nil, !entry.unknown.contains(name), entry.unknown.count < Self.mostUnknown else { return keys }
        entries[address]?.unknown.insert(name)
        return await again(provider, budget) ?? keys
    }

    /// The set read once more, for a token that no key at hand verifies. The MVPD may have replaced a key and kept its name, or have no names.
    /// - Returns: `nil` where it was read so less than a minute ago, or cannot be read now.
    func newerKeys(of provider: OAuthProvider, budget: CallBudget) async -> JSONWebKeySet? {
        let address = provider.endpoint.jwksURL
        guard let entry = entries[address], entry.keys != nil else { return nil }
        let now = clock.now()
        if entry.reading == nil {
            if let last = entry.doubtedAt, now >= last, now < last + Self.pause { return nil }
            entries[address]?.doubtedAt = now
        }
        return await again(provider, budget)
    }

    /// Reads key sets again when they are due; until it is cancelled.
    package func keep() async {
        while (try? await Task.sleep(for: .seconds(15))) != nil { await refreshDue() }
    }

    /// Reads again what is due: the timer's turn.
    func refreshDue() async {
        for entry in entries.values where entry.keys != nil && clock.now() >= entry.dueAt {
            _ = await again(entry.provider, CallBudget(entry.provider.endpoint.totalTimeout))
        }
    }

    private func again(_ provider: OAuthProvider, _ budget: CallBudget) async -> JSONWebKeySet? { try? await read(provider, budget) }

    /// Several callers share one read.
    private func read(_ provider: OAuthProvider, _ budget: CallBudget) async throws(Fault) -> JSONWebKeySet {
        let address = provider.endpoint.jwksURL
        if let reading = entries[address]?.reading { return try await reading.value.get() }
        let reading = Task { [client] () async -> Result<JSONWebKeySet, Fault> in
            do throws(Fault) { return .success(try await client.keys(of: provider, budget: budget)) } catch { return .failure(error) }
        }
        entries[address, default: Entry(provider: provider, dueAt: clock.now())].reading = reading
        let result = await reading.value
        keep(result, at: address, provider)
        return try result.get()
    }

    private func keep(_ result: Result<JSONWebKeySet, Fault>, at address: String, _ provider: OAuthProvider) {
        guard var entry = entries[address] else { return }
        entry.reading = nil
        entry.provider = provider
        switch result {
        case .success(let keys):
            let isTimely = entry.keys == nil || clock.now() >= entry.dueAt
            entry.keys = keys
            if isTimely { entry.unknown = [] }
            entry.dueAt = clock.now() + provider.endpoint.keyRefresh
        case .failure: entry.dueAt = max(entry.dueAt, clock.now() + Self.patience)
        }
        entries[address] = entry
    }
}

/// The announcements of providers about their answers where their records lack them. Such records date from before the import stored it, or somebody
/// wrote them by hand.
package actor ProviderAnnouncements {
    /// OpenID Connect Discovery §4.
    private static let place = "/.well-known/openid-configuration"
    private static let life: Duration = .seconds(86_400)
    /// After a read that failed.
    private static let patience: Duration = .seconds(600)
    /// A person waits so long for it.
    private static let longest: Duration = .seconds(2)

    private struct Found {
        let includesIssuer: Bool
        /// By a document; else what was known before.
        let isRead: Bool
    }

    private struct Entry {
        var found: Found?
        var dueAt: Timestamp
        var reading: Task<Found, Never>?
    }

    private let client: ProviderClient
    private let store: SqlAuthenticationStore?
    private let clock: any WallClock
    private var entries: [OctetText: Entry] = [:]

    /// - Parameter store: Keeps what was read for the next start; `nil`: nothing is kept.
    package init(client: ProviderClient, store: SqlAuthenticationStore?, clock: any WallClock) {
        self.client = client
        self.store = store
        self.clock = clock
    }

    /// True when its answers name it, as its discovery document says (`authorization_response_iss_parameter_supported`, RFC 9207 §3). A document that
    /// cannot be read says nothing new: what the last one said counts, before a restart too.
    func includeIssuer(of provider: OAuthProvider) async -> Bool {
        let issuer = OctetText(provider.endpoint.issuer)
        let entry = entries[issuer]
        if let reading = entry?.reading { return await reading.value.includesIssuer }
        if let entry, let found = entry.found, clock.now() < entry.dueAt { return found.includesIssuer }
        let reading = Task { await self.find(provider, known: entry?.found) }
        entries[issuer, default: Entry(dueAt: clock.now())].reading = reading
        let found = await reading.value
        entries[issuer] = Entry(found: found, dueAt: clock.now() + (found.isRead ? Self.life : Self.patience))
        return found.includesIssuer
    }

    private func find(_ provider: OAuthProvider, known: Found?) async -> Found {
        let issuer = provider.endpoint.issuer
        guard let includesIssuer = await read(provider) else {
            if let known { return Found(includesIssuer: known.includesIssuer, isRead: false) }
            return Found(includesIssuer: (try? await store?.announcesIssuer(issuer)) ?? false, isRead: false)
        }
        // Without it the next start asks again.
        try? await store?.note(issuer, announcesIssuer: includesIssuer, at: clock.now())
        return Found(includesIssuer: includesIssuer, isRead: true)
    }

    /// - Returns: `nil` where there is no document that can be read, or one of another issuer.
    private func read(_ provider: OAuthProvider) async -> Bool? {
        let issuer = provider.endpoint.issuer
        let address = (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + Self.place
        let budget = CallBudget(min(provider.endpoint.totalTimeout, Self.longest))
        guard let document = try? await client.discovery(at: address, of: provider, budget: budget),
            let root = try? JsonDocument(parsing: document).root, case .string(let named)? = root.member("issuer")?.content,
            OctetText(named) == OctetText(issuer)
        else { return nil }
        guard case .bool(let isSupported)? = root.member("authorization_response_iss_parameter_supported")?.content else { return false }
        return isSupported
    }
}

extension JsonNode {
    fileprivate func member(_ name: String) -> JsonNode? {
        guard case .object(let members) = content else { return nil }
        return members.first { OctetText($0.name) == OctetText(name) }?.value
    }
}
