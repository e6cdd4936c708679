internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

extension InMemoryAutoSignIn: AutomaticSignIn {
    private static let idleLimit: UInt64 = 400 * 24 * 3_600_000

    public func issueToken(_ request: IssueTokenRequest, context: CallContext) async throws -> IssuedToken {
        let (caller, account) = try caller(request.call)
        guard let account, caller.login != nil else { throw Fault(.sessionNotFresh, "Sign in again, then ask once more within 15 minutes.") }
        guard request.contextAuthorization == .granted else { throw Fault(.optInRequired, "The person has not allowed it.") }
        guard caller.login?.allowsAutoSignIn == true else { throw Fault(.subscriptionRequired, "The TV provider does not take part.") }
        guard sessions.config.catalogue.appleApp(request.bundleID) != nil else { throw Fault(.clientUnknown, "The programmer has no such app.") }
        let number = numbers.next()
        let moment = now
        let issued = IssuedToken(
            familyID: DerivedIdentity.uuid("family", "\(number)"), accountID: account,
            value: "double." + DerivedIdentity.digest("value", "\(number)"),
            expiresAtMilliseconds: moment + Self.idleLimit)
        let key = "\(caller.clientID)/\(caller.deviceID)/\(request.idempotencyKey)"
        return books.withLock { books in
            if !request.idempotencyKey.isEmpty, let earlier = books.tokens[key] { return earlier }
            if !request.idempotencyKey.isEmpty { books.tokens[key] = issued }
            let family = TokenFamily(
                id: issued.familyID, state: .pending, bundleID: request.bundleID, environment: request.environment,
                deviceLabel: request.call?.device?.model ?? "", createdAtMilliseconds: moment)
            books.families[family.id] = Family(contract: family, account: account, value: issued.value)
            books.familyByValue[issued.value] = family.id
            return issued
        }
    }

    public func confirmStored(_ request: ConfirmStoredRequest, context: CallContext) async throws -> TokenFamily {
        let (_, account) = try caller(request.call)
        let moment = now
        let family = books.withLock { books -> TokenFamily? in
            guard var family = books.families[request.familyID], family.account == account else { return nil }
            if request.outcome == .stored, family.contract.state == .pending { family.contract.state = .active }
            if request.outcome == .failed { Self.revoke(&family, "not_stored", at: moment) }
            books.families[request.familyID] = family
            return family.contract
        }
        guard let family else { throw Self.unknownFamily }
        return family
    }

    public func redeemToken(_ request: RedeemTokenRequest, context: CallContext) async throws -> RedeemedToken {
        let (caller, _) = try caller(request.call)
        let family = books.withLock { books in books.familyByValue[request.value].flatMap { books.families[$0] } }
        guard let family, family.value == request.value else { throw Fault(.tokenInvalid, "The value is not known.") }
        guard family.contract.state != .revoked else { throw Fault(.tokenRevoked, "The value is revoked.") }
        let person = sessions.subject(device: caller.deviceID, requestor: caller.requestor).session ?? Session()
        let session = try streaming(request.call, account: family.account, userID: person.userID, mvpd: person.mvpd, as: .auto)
        let moment = now
        books.withLock { books in
            books.families[family.contract.id]?.contract.lastUsedAtMilliseconds = moment
            books.families[family.contract.id]?.contract.devices.insert(
                SignedInDevice(
                    sessionID: session.id, label: request.call?.device?.model ?? "", requestor: caller.requestor, signedInAtMilliseconds: moment,
                    expiresAtMilliseconds: session.expiresAtMilliseconds), at: 0)
        }
        return RedeemedToken(session: session, familyID: family.contract.id)
    }

    public func rotateToken(_ request: RotateTokenRequest, context: CallContext) async throws -> Rotation {
        try sessions.requireBearer(request.call?.accessToken ?? "")
        let version = books.withLock { books -> UInt32? in
            guard books.families[request.familyID]?.contract.state == .active else { return nil }
            books.families[request.familyID]?.version += 1
            return books.families[request.familyID]?.version
        }
        guard let version else { throw Self.unknownFamily }
        return Rotation(newVersion: version, appleState: .done)
    }

    public func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws -> Revocation {
        let account = try account(of: request.caller)
        let moment = now
        let revokedAt = books.withLock { books -> UInt64? in
            let id = request.value.isEmpty ? request.familyID : books.familyByValue[request.value] ?? ""
            guard var family = books.families[id], account == nil || account == family.account else { return nil }
            Self.revoke(&family, request.reason, at: moment)
            books.families[id] = family
            return family.contract.revokedAtMilliseconds
        }
        guard let revokedAt else { throw Self.unknownFamily }
        return Revocation(revokedAtMilliseconds: revokedAt)
    }

    public func revokeAll(_ request: RevokeAllRequest, context: CallContext) async throws -> RevokedFamilies {
        let own = try account(of: request.caller)
        let account = own ?? request.accountID
        return await end(families(of: account).map(\.id), reason: request.reason, keeping: request.keepSessionID, context)
    }

    public func flagSignIn(_ request: FlagSignInRequest, context: CallContext) async throws -> RevokedFamilies {
        let account = try account(of: request.caller) ?? ""
        let flagged = families(of: account).filter { $0.devices.contains { $0.sessionID == request.sessionID } }.map(\.id)
        guard !flagged.isEmpty else { throw Fault(.sessionUnknown, "There is no such session.") }
        return await end(flagged, reason: "flagged", keeping: "", context)
    }

    public func getOptInStatus(_ request: GetOptInStatusRequest, context: CallContext) async throws -> OptInStatus {
        let account = try account(of: request.caller) ?? ""
        let links = books.withLock { $0.links.values.map(\.contract).filter { $0.accountID == account } }
        return OptInStatus(
            accountID: account, families: families(of: account), appleLinks: links.sorted { $0.id < $1.id }, requestor: requestor(of: request.caller))
    }

    public func createWebLink(_ request: CreateWebLinkRequest, context: CallContext) async throws -> WebLink {
        let (caller, account) = try caller(request.call)
        guard let account else { throw Fault(.authenticationSessionMissing, "The device has no session.") }
        let handle = DerivedIdentity.digest("link", "\(numbers.next())")
        books.withLock { $0.handles[handle] = (account, caller.requestor) }
        return WebLink(handle: handle, expiresInSeconds: 300)
    }

    public func openWebLink(_ request: OpenWebLinkRequest, context: CallContext) async throws -> WebSession {
        let secret = DerivedIdentity.digest("web", "\(numbers.next())")
        let opened = books.withLock { books -> String? in
            guard let place = books.handles.removeValue(forKey: request.handle) else { return nil }
            books.browsers[secret] = place
            return place.requestor
        }
        guard let opened else { throw Fault(.accessDenied, "The link is not known, or was used.") }
        return WebSession(secret: secret, expiresInSeconds: 1800, requestor: opened)
    }

    public func endWebSession(_ request: EndWebSessionRequest, context: CallContext) async throws -> EndWebSessionResponse {
        books.withLock { _ = $0.browsers.removeValue(forKey: request.webSession) }
        return EndWebSessionResponse()
    }

    private func families(of account: String) -> [TokenFamily] {
        books.withLock { $0.families.values.filter { $0.account == account }.map(\.contract) }.sorted { $0.id < $1.id }
    }

    private func end(_ ids: [String], reason: String, keeping kept: String, _ context: CallContext) async -> RevokedFamilies {
        let moment = now
        let (revoked, devices) = books.withLock { books -> ([String], [SignedInDevice]) in
            let open = ids.filter { books.families[$0].map { $0.contract.state != .revoked } ?? false }
            let devices = open.flatMap { books.families[$0]?.contract.devices ?? [] }
            for id in open {
                guard var family = books.families[id] else { continue }
                Self.revoke(&family, reason, at: moment)
                books.families[id] = family
            }
            return (open, devices)
        }
        let ending = EndAutomaticSessionsRequest(sessionIDs: devices.map(\.sessionID).filter { $0 != kept })
        let ended = try? await sessions.endAutomaticSessions(ending, context: context)
        return RevokedFamilies(familyIDs: revoked, endedSessions: ended?.ended ?? 0)
    }

    private static func revoke(_ family: inout Family, _ reason: String, at moment: UInt64) {
        guard family.contract.state != .revoked else { return }
        family.contract.state = .revoked
        family.contract.revokedAtMilliseconds = moment
        family.contract.revocationReason = reason
        family.contract.devices = []
    }

    private func requestor(of caller: Caller?) -> String {
        switch caller?.who {
        case .device(let call): call.requestor
        case .backend(let call): call.requestor
        case .webSession(let secret): books.withLock { $0.browsers[secret]?.requestor } ?? ""
        case nil: ""
        }
    }

    private static let unknownFamily = Fault(.familyUnknown, "There is no such family.")
}
