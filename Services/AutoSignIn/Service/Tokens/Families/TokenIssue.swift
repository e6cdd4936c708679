internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Storage

/// Opt-ins: a family with its first value (apple §1.2, §4).
struct TokenIssue: Sendable {
    let base: AutoSignInBase

    func issue(_ request: IssueTokenRequest, _ context: CallContext) async throws(Fault) -> IssuedToken {
        let caller = try await base.callers.device(request.call, context)
        var subject = request
        subject.call = nil
        subject.idempotencyKey = ""
        let place = try IdempotentPlace("IssueToken", key: request.idempotencyKey, caller: caller.names, request: subject)
        return try await base.idempotency.once(place) { remembering throws(Fault) in
            try await issue(request, caller, remembering)
        }
    }

    private func issue(_ request: IssueTokenRequest, _ caller: DeviceCaller, _ remembering: Remembering) async throws(Fault) -> IssuedToken {
        let now = base.parts.clock.now()
        let optIn = try check(request, caller, now)
        let value = TokenValue.random(from: base.parts.random)
        let (comparison, sealed) = (base.values.comparison(value.secret), try base.values.close(value))
        let id = FamilyID(base.parts.random.uuid(madeAt: now))
        let newAccount = AccountID(base.parts.random.uuid(madeAt: now))
        let limit = base.parts.settings.familiesPerAccount
        let issued = try await base.parts.store.change { database, touched in
            let account = try database.accountForOptIn(caller, optIn.login, new: newAccount, now: now)
            let families = try database.families(of: account).count { !$0.isOver }
            guard families < limit else { throw Fault(.tooManyFamilies, "The account has too many Apple Accounts already.") }
            touched.accounts.insert(account)
            try database.insert(
                FamilyRecord(
                    id: id, account: account, programmer: caller.programmer, bundleID: optIn.bundleID, environment: optIn.environment,
                    state: .pending, link: caller.link, device: caller.device, deviceLabel: caller.deviceLabel, createdAt: now,
                    idleAt: now + FamilyRecord.pendingLimit))
            try database.insert(
                TokenVersionRecord(id: value.id, family: id, number: 1, comparison: comparison, sealed: sealed, state: .pending, createdAt: now))
            let issued = IssuedToken(
                familyID: id.text, accountID: account.text, value: value.text,
                expiresAtMilliseconds: UInt64(clamping: (now + FamilyRecord.idleLimit).milliseconds))
            try remembering.keep(issued, in: database)
            return issued
        }
        base.parts.metrics.issuedTokens.increment()
        base.parts.logger.info("token_issued", metadata: ["family": "\(id)", "programmer": "\(caller.programmer)"])
        return issued
    }

    private struct OptIn: Sendable {
        let login: CallerLogin
        let bundleID: AppleClientID
        let environment: AppleEnvironment
    }

    /// - Throws: `session_not_fresh`, `opt_in_required`, `subscription_required`, `client_unknown`, `invalid_request`.
    private func check(_ request: IssueTokenRequest, _ caller: DeviceCaller, _ now: Timestamp) throws(Fault) -> OptIn {
        let login = try caller.freshLogin(now: now)
        guard request.contextAuthorization == .granted else {
            throw Fault(.optInRequired, "The person has not allowed automatic sign-in on the device.")
        }
        guard request.accountID.isEmpty || request.accountID == caller.account?.text else {
            throw Fault(.sessionNotFresh, "The session is of another account.")
        }
        guard login.allowsAutoSignIn else {
            throw Fault(.subscriptionRequired, "The TV provider does not take part in automatic sign-in.")
        }
        let bundleID = AppleClientID(request.bundleID)
        guard let app = try base.parts.catalogue.current().nativeApp(bundleID, of: caller.programmer), !app.team.issuerID.isEmpty else {
            throw Fault(.clientUnknown, "The programmer has no such app.")
        }
        return OptIn(login: login, bundleID: bundleID, environment: try request.environment.required())
    }

    /// - Returns: The family as it is then.
    func confirm(_ request: ConfirmStoredRequest, _ context: CallContext) async throws(Fault) -> TokenFamily {
        let caller = try await base.callers.device(request.call, context)
        try caller.requirePerson()
        guard [.stored, .failed].contains(request.outcome) else {
            throw Fault(.invalidRequest, "Required 'outcome' is not 'stored' or 'failed'.")
        }
        var subject = request
        subject.call = nil
        subject.idempotencyKey = ""
        let place = try IdempotentPlace("ConfirmStored", key: request.idempotencyKey, caller: caller.names, request: subject)
        return try await base.idempotency.once(place) { remembering throws(Fault) in
            try await confirm(FamilyID(request.familyID), request.outcome, caller, remembering)
        }
    }

    private func confirm(
        _ id: FamilyID, _ outcome: StorageOutcome, _ caller: DeviceCaller, _ remembering: Remembering
    ) async throws(Fault) -> TokenFamily {
        let now = base.parts.clock.now()
        let family = try await base.parts.store.change { database, touched in
            guard let family = try database.family(id), CheckedCaller.device(caller).mayReach(family.account, of: family.programmer) else {
                throw Fault.familyUnknown
            }
            if outcome == .failed {
                try database.revoke(id, .notStored, &touched, now: now)
            } else if family.state == .pending {
                try database.confirm(family, &touched, now: now)
            }
            let answer = try database.contract(id, now: now)
            try remembering.keep(answer, in: database)
            return answer
        }
        if outcome == .failed {
            base.parts.metrics.revoked(RevocationReason.notStored.label)
            base.outbox.wake()
        }
        return family
    }
}

extension Fault {
    /// No family of the caller's.
    static let familyUnknown = Fault(.familyUnknown, "There is no such family.")
}

enum TokenValueSubject {}

/// `asi1.<id>.<secret>`, 71 characters: 16 random bytes to look it up by, 32 that prove it (apple §1.2). Prints as `[hidden]`.
struct TokenValue: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    static let length = 71
    private static let prefix = "asi1."
    private static let idLength = 22
    private static let secretLength = 43

    let text: String
    let id: TokenID
    let secret: Secret<TokenValueSubject>

    static func random(from source: any RandomSource) -> TokenValue {
        TokenValue(id: TokenID(Base64.url.encode(source.bytes(16))), secret: .random(from: source))
    }

    private init(id: TokenID, secret: Secret<TokenValueSubject>) {
        self.id = id
        self.secret = secret
        text = "\(Self.prefix)\(id.text).\(secret.text)"
    }

    /// - Returns: `nil` for anything that was never a value.
    init?(_ text: String) {
        guard text.utf8.count == Self.length, text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count == Self.idLength, parts[2].utf8.count == Self.secretLength,
            (parts[1].utf8 + Array(parts[2].utf8)).allSatisfy(Self.isBase64URL)
        else { return nil }
        self.init(id: TokenID(String(parts[1])), secret: Secret(String(parts[2])))
    }

    var description: String { "[hidden]" }
    var customMirror: Mirror { Mirror(self, children: []) }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }
}

/// Values are kept in this way: a keyed digest to compare with, and the sealed whole for the calls to Apple that need it (apple §1.2).
struct ValueSeal: Sendable {
    private let seal: TokenSeal
    private let keys: AutoSignInKeys

    init(_ keys: AutoSignInKeys) {
        seal = keys.seal(for: .values)
        self.keys = keys
    }

    /// To be kept, by the current key.
    func comparison(_ secret: Secret<TokenValueSubject>) -> Digest { Self.digest(secret, keys.key(for: .comparison)) }

    /// True when a kept digest is the secret's, by whichever key it was made. All keys are tried, so that it takes the same time for every secret.
    func matches(_ kept: Digest, _ secret: Secret<TokenValueSubject>) -> Bool {
        var isRight = false
        for key in keys.keys(for: .comparison) where kept.equals(Self.digest(secret, key)) { isRight = true }
        return isRight
    }

    private static func digest(_ secret: Secret<TokenValueSubject>, _ key: SymmetricKey) -> Digest {
        Digest(bytes: HMACSHA256.authenticate(Array(secret.text.utf8), key: key))
    }

    /// - Throws: `internal`.
    func close(_ value: TokenValue) throws(Fault) -> SealedBytes { try seal.close(Array(value.text.utf8), "value", of: value.id.text) }

    /// - Returns: `nil` when it was thrown away, or sealed with another key.
    func open(_ version: TokenVersionRecord) -> TokenValue? {
        version.sealed.flatMap { seal.open($0, "value", of: version.id.text) }.flatMap { String(validating: $0, as: UTF8.self) }.flatMap(
            TokenValue.init)
    }
}
