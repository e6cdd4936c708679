internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers

/// Says whether a person has to sign in, and gathers what a sign-in needs (rest-v2 §2.2, §2.3).
struct SignInPlans: Sendable {
    let bearers: BearerCheck
    let codes: RegistrationCodes
    let sessions: SessionLookup
    let profiles: ProfileLookup
    let store: SqlAuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let ends: SignInEnds

    /// - Throws: As `BeginSignIn`.
    func begin(_ request: BeginSignInRequest) async throws(Fault) -> SignInPlan {
        let caller = try await bearers.device(request.call)
        let owner = ProfileOwner(caller)
        let sent = SignInParameters(mvpd: request.mvpd, domainName: request.domainName, redirectURL: request.redirectURL)
        try requireGood(sent, owner, caller.client.application)
        if !sent.mvpd.isEmpty, let plan = try await excused(caller, try ProfileLookup.parties(sent.mvpd, owner).mvpd) { return plan }
        return try await wait(caller, sent)
    }

    /// - Returns: `nil` where a person has to sign in.
    func excused(_ caller: DeviceCaller, _ mvpd: Mvpd) async throws(Fault) -> SignInPlan? {
        try await reason(caller, mvpd).map { SignInPlan(step: .authorize, reason: $0, id: random.uuid(), mvpd: mvpd.id) }
    }

    /// With a new code.
    func wait(_ caller: DeviceCaller, _ sent: SignInParameters, because reason: SignInReason = .none) async throws(Fault) -> SignInPlan {
        let made = try await codes.make(caller, isPlan: true) { sent.fill(&$0) }
        var plan = Self.plan(made.record, made.record.lacks.isEmpty ? .authenticate : .complete, reason, in: caller.catalogue)
        plan.replacedExpiresAtMilliseconds = UInt64(clamping: made.replacedEnd?.milliseconds ?? 0)
        return plan
    }

    /// Without an address that is not accepted: where that is no fault.
    func usable(_ sent: SignInParameters, _ owner: ProfileOwner, _ application: Application?) -> SignInParameters {
        guard (try? requireGood(sent, owner, application)) == nil else { return sent }
        return SignInParameters(mvpd: sent.mvpd, domainName: sent.domainName, redirectURL: "")
    }

    private func reason(_ caller: DeviceCaller, _ mvpd: Mvpd) async throws(Fault) -> SignInReason? {
        if let session = try await sessions.profile(of: caller, at: MvpdID(mvpd.id)) { return session.isTakenOver ? .shared : .authenticated }
        return profiles.reason(mvpd, ProfileOwner(caller))
    }

    /// - Throws: As `ContinueSignIn`.
    func proceed(_ request: ContinueSignInRequest) async throws(Fault) -> SignInPlan {
        let client = try await bearers.client(Credentials(accessToken: request.accessToken, api: .v2), requestor: request.requestor)
        let requestor = RequestorID(try client.catalogue.requireRequestor(request.requestor).id)
        let now = clock.now()
        let found = try await store.liveRecord(RegistrationCodeText(typed: request.code), now: now - RegistrationRecord.remembrance)
        guard var record = found, record.requestor == requestor else { throw RegistrationCodes.unknownCode }
        try record.requireTold(.session, to: client.id, now: now)
        let owner = ProfileOwner(record, in: client.catalogue)
        guard !record.isUsed else { return try await done(record, owner) }
        let sent = SignInParameters(mvpd: request.mvpd, domainName: request.domainName, redirectURL: request.redirectURL)
        let application = try await ClientDirectory(store: store).application(of: record.clientID, in: client.catalogue)
        try requireGood(sent, owner, application)
        sent.fill(&record)
        if !record.mvpd.isEmpty {
            let mvpd = try ProfileLookup.parties(record.mvpd, owner).mvpd
            if let reason = try await reason(owner, mvpd) { return Self.plan(record, .authorize, reason, in: client.catalogue) }
        }
        guard try await store.plan(record, now: now) else { throw RegistrationCodes.spentCode }
        return Self.plan(record, in: client.catalogue)
    }

    /// A sign-in through the code has succeeded: it starts no other (rest-v2 D7).
    private func done(_ record: RegistrationRecord, _ owner: ProfileOwner) async throws(Fault) -> SignInPlan {
        let made = try await store.sessions(owner.key).first { $0.record == record.id }
        let reason: SignInReason =
            switch made?.kind {
            case .degraded: .degraded
            case .tempPass: .temporary
            default: .authenticated
            }
        var record = record
        if let made { record.mvpd = made.mvpd.text }
        return Self.plan(record, .authorize, reason, in: owner.catalogue)
    }

    private func reason(_ owner: ProfileOwner, _ mvpd: Mvpd) async throws(Fault) -> SignInReason? {
        let own = try await store.sessions(owner.key).filter { $0.clientID == owner.client && $0.isProfile && $0.mvpd == MvpdID(mvpd.id) }
        if case .valid = SessionState.of(own, claims: DeviceClaims(), visibleIn: owner.catalogue, now: clock.now()) { return .authenticated }
        return profiles.reason(mvpd, owner)
    }

    /// The MVPD's id, then the address; whether the MVPD is integrated comes after both (rest-v2 §1.5).
    /// - Throws: `invalid_mvpd`, `invalid_redirect_url`.
    private func requireGood(_ sent: SignInParameters, _ owner: ProfileOwner, _ application: Application?) throws(Fault) {
        guard sent.mvpd.isEmpty || owner.catalogue.mvpd(sent.mvpd) != nil else { throw Fault(.invalidMvpd, "The MVPD is missing or not known.") }
        guard !sent.redirectURL.isEmpty else { return }
        let requestor = try owner.catalogue.requireRequestor(owner.key.requestor.text)
        try ends.require(sent.redirectURL, at: requestor, of: application, in: owner.catalogue)
    }

    private static func plan(_ record: RegistrationRecord, in catalogue: Catalogue) -> SignInPlan {
        plan(record, record.lacks.isEmpty ? .authenticate : .complete, .none, in: catalogue)
    }

    private static func plan(_ record: RegistrationRecord, _ step: SignInStep, _ reason: SignInReason, in catalogue: Catalogue) -> SignInPlan {
        let lacks = step == .complete ? record.lacks : []
        return SignInPlan(
            step: step, reason: reason, lacksMvpd: lacks.contains(.mvpd), lacksDomainName: lacks.contains(.domainName),
            lacksRedirectURL: lacks.contains(.redirectURL), id: record.id.text, mvpd: record.mvpd,
            code: record.contract(in: catalogue, application: nil, device: .hidden))
    }
}

/// The parameters that a sign-in needs beside its code, as they were sent; empty: not.
struct SignInParameters: Hashable, Sendable {
    /// Longest name of a host (RFC 1035 §2.3.4).
    private static let longestDomain = 253

    let mvpd: String
    let domainName: String
    let redirectURL: String

    init(mvpd: String, domainName: String, redirectURL: String) {
        self.mvpd = mvpd
        self.domainName = Self.isName(domainName) ? domainName : ""
        self.redirectURL = redirectURL
    }

    /// Puts what was sent in the place of what the record has.
    func fill(_ record: inout RegistrationRecord) {
        if !mvpd.isEmpty { record.mvpd = mvpd }
        if !domainName.isEmpty { record.domainName = domainName }
        if !redirectURL.isEmpty { record.redirectURL = redirectURL }
    }

    /// A domain decides nothing: any text on one line is one, whatever real apps write before and after it (clients §4.1).
    private static func isName(_ text: String) -> Bool {
        guard text.utf8.count <= RedirectAddress.longest, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { return false }
        var host = text[...]
        if let mark = host.firstRange(of: "://") { host = host[mark.upperBound...] }
        host = host.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let port = host.firstIndex(of: ":") { host = host[..<port] }
        return host.utf8.count <= longestDomain && host.contains { !$0.isWhitespace }
    }
}

extension RegistrationRecord {
    /// A parameter that a sign-in needs and this one lacks.
    enum Lack: Hashable, Sendable { case mvpd, domainName, redirectURL }

    var lacks: Set<Lack> {
        var lacks: Set<Lack> = []
        if mvpd.isEmpty { lacks.insert(.mvpd) }
        if domainName.isEmpty { lacks.insert(.domainName) }
        if redirectURL.isEmpty { lacks.insert(.redirectURL) }
        return lacks
    }
}

extension SignInPlans: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.beginSignIn) { request, _ in try await begin(request) }
        calls.unary(AuthenticationMethods.continueSignIn) { request, _ in try await proceed(request) }
    }
}
