internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers
internal import Logging
internal import OutboundHttp
internal import Storage

/// Changes and deletes values on Apple Accounts (apple §1.3).
struct StoreKitCourier: OutboxCourier {
    let store: AutoSignInStore
    let catalogue: any CatalogueSource
    let tokens: StoreKitTokens
    let values: ValueSeal
    let addresses: AppleAddresses
    let transport: any OutboundTransport
    let logger: Logger

    func deliver(_ item: OutboxItem) async -> DeliveryOutcome {
        do throws(Fault) {
            guard let call = try await call(item) else { return .obsolete }
            guard let bearer = try bearer(call.family, fresh: item.progress.refusedCredentials > 0) else {
                logger.error("storekit_key_missing", metadata: ["family": "\(call.family.id)", "bundle": "\(call.family.bundleID)"])
                return .unreachable
            }
            return await send(call, bearer)
        } catch {
            logger.warning("storekit_call_postponed", metadata: ["family": "\(item.letter.subject)", "error": "\(error)"])
            return .unreachable
        }
    }

    private struct Call {
        let family: FamilyRecord
        let path: String
        let body: [UInt8]
    }

    /// - Returns: `nil` when there is nothing left to do.
    private func call(_ item: OutboxItem) async throws(Fault) -> Call? {
        let (family, versions) = try await store.store.read { database in
            (try database.family(FamilyID(item.letter.subject)), try item.letter.ids.compactMap { try database.version(TokenID($0)) })
        }
        guard let family else { return nil }
        // The characters of values need no escape in JSON.
        let texts = versions.compactMap { values.open($0)?.text }
        guard texts.count == item.letter.ids.count else { return nil }
        switch item.letter.kind {
        case .update:
            guard !family.isOver else { return nil }
            let body = #"{"existingAutoSignInTokenValue":"\#(texts[0])","newAutoSignInTokenValue":"\#(texts[1])"}"#
            return Call(family: family, path: "/account/v1/autoSignIn/update", body: Array(body.utf8))
        case .delete:
            let body = #"{"autoSignInTokenValue":"\#(texts[0])"}"#
            return Call(family: family, path: "/account/v1/autoSignIn/delete", body: Array(body.utf8))
        case .revoke, .endSessions: return nil
        }
    }

    private func bearer(_ family: FamilyRecord, fresh: Bool) throws(Fault) -> StoreKitBearer? {
        guard let app = try catalogue.current().nativeApp(family.bundleID, of: family.programmer) else { return nil }
        return tokens.bearer(app.team, bundleID: family.bundleID, fresh: fresh)
    }

    private func send(_ call: Call, _ bearer: StoreKitBearer) async -> DeliveryOutcome {
        let request = OutboundRequest(
            .post, addresses.storeKit(call.family.environment) + call.path,
            headers: [("authorization", "Bearer \(bearer.text)"), ("content-type", "application/json"), ("accept", "application/json")],
            body: call.body)
        do throws(OutboundFailure) {
            let answer = try await transport.send(request)
            if answer.status != 204 {
                // No error body is documented: none is read (apple §1.3).
                logger.info("storekit_answer", metadata: ["status": "\(answer.status)", "length": "\(answer.body.count)"])
            }
            return .storeKit(status: answer.status, retryAfter: answer.retryAfter)
        } catch {
            logger.warning("storekit_call_failed", metadata: ["kind": "\(error.kind.rawValue)"])
            return error.isUnsent ? .unreachable : .unclear(status: 0, retryAfter: nil)
        }
    }

    func settle(_ item: OutboxItem, _ end: DeliveryEnd, in database: Database, _ touched: inout Touched, now: Timestamp) throws {
        guard let family = try database.family(FamilyID(item.letter.subject)) else { return }
        let versions = try item.letter.ids.compactMap { try database.version(TokenID($0)) }
        switch item.letter.kind {
        case .update where versions.count == 2 && !family.isOver:
            try database.settleUpdate(of: family, from: versions[0], to: versions[1], end, &touched, now: now)
        case .delete where end != .givenUp(isUnclear: true) && end != .givenUp(isUnclear: false):
            // Nobody needs the value any more.
            for var version in versions {
                version.sealed = nil
                try database.update(version, of: family)
                touched.versions.insert(version.id)
            }
            try database.removeIfErased(family, besides: item, &touched)
        case .update, .delete, .revoke, .endSessions: return
        }
    }

    func reopen(_ item: OutboxItem, in database: Database, _ touched: inout Touched, now: Timestamp) throws -> Bool {
        guard item.letter.kind == .update else { return true }
        let versions = try item.letter.ids.compactMap { try database.version(TokenID($0)) }
        guard let family = try database.family(FamilyID(item.letter.subject)), !family.isOver, versions.count == 2, versions[0].state == .active
        else { return false }
        return try database.reopenUpdate(of: family, to: versions[1], &touched)
    }
}

/// The tokens of one opt-in (apple §4).
struct FamilyRecord: Hashable, Sendable {
    let id: FamilyID
    let account: AccountID
    let programmer: ProgrammerID
    let bundleID: AppleClientID
    let environment: AppleEnvironment
    var state: FamilyState
    /// The Apple link behind the session that opted in; `nil`: none.
    var link: AppleLinkID?
    /// The device that opted in.
    let device: DeviceID
    let deviceLabel: String
    let createdAt: Timestamp
    /// To the hour; `nil`: no device has redeemed.
    var lastUsedAt: Timestamp?
    /// Unused until then it ends by itself; `nil` once it is revoked.
    var idleAt: Timestamp?
    var revokedAt: Timestamp?
    var reason = ""

    /// Pending ones end after 30 days, others 180 days after their last use (apple §4).
    static let pendingLimit: Duration = .seconds(30 * 86_400)
    static let idleLimit: Duration = .seconds(180 * 86_400)
    /// How exactly uses are noted.
    static let useInterval: Duration = .seconds(3600)
    /// Revoked rows are kept so long.
    static let memory: Duration = .seconds(400 * 86_400)

    var isOver: Bool { state == .revoked || state == .absent }
}

/// One value that a family has or had.
struct TokenVersionRecord: Hashable, Sendable {
    let id: TokenID
    let family: FamilyID
    /// From 1.
    let number: Int
    let comparison: Digest
    /// `nil` once it is of no use for a call to Apple.
    var sealed: SealedBytes?
    var state: TokenVersionState
    let createdAt: Timestamp
    var activatedAt: Timestamp?
    var supersededAt: Timestamp?

    /// An active one is replaced at this age (apple §1.2).
    static let rotationAge: Duration = .seconds(90 * 86_400)
    /// A superseded one is accepted for this long.
    static let grace: Duration = .seconds(72 * 3600)
}

enum TokenVersionState: Int, Hashable, Sendable {
    /// Made, but neither Apple nor a device has shown yet that it is on the account.
    case pending = 1
    case active
    /// A newer one is on the account; accepted for 72 hours more.
    case superseded
    case revoked
    /// Apple never took it.
    case dropped
}
