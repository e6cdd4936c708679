package import AuthenticationCore
package import Clocks
internal import Contracts
internal import Faults
internal import StrictJson

/// What providers announce of their answers where their records do not say it: records of before the import stored it, and those that somebody wrote by hand.
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
    private let store: (any AnnouncementStore)?
    private let clock: any WallClock
    private var entries: [OctetText: Entry] = [:]

    /// - Parameter store: Keeps what was read for the next start; `nil`: nothing is kept.
    package init(client: ProviderClient, store: (any AnnouncementStore)?, clock: any WallClock) {
        self.client = client
        self.store = store
        self.clock = clock
    }

    /// Whether its answers name it, as its discovery document says (`authorization_response_iss_parameter_supported`, RFC 9207 §3). A document that cannot be read says
    /// nothing new: what the last one said counts, before a restart too.
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
