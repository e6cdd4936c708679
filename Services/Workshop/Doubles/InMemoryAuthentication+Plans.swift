internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

/// Whether a person has to sign in, and with which code (rest-v2 §2.2, §2.3).
extension InMemoryAuthentication {
    private static let longestDomain = 253

    public func beginSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan {
        let (call, requestor) = try requireDevice(request.call)
        try requireGood(request.mvpd, request.redirectURL, requestor)
        if !request.mvpd.isEmpty, let plan = try excused(call, try parties(request.mvpd, call).mvpd) { return plan }
        return wait(call, request)
    }

    /// - Returns: `nil` where a person has to sign in.
    func excused(_ call: DeviceCall, _ mvpd: Mvpd) throws(Fault) -> SignInPlan? {
        let session = try profiles(of: call).first { $0.session?.mvpd == mvpd.id }?.session
        let own: SignInReason? = session.map { $0.kind == .shared ? SignInReason.shared : .authenticated }
        return (own ?? standing(call, mvpd)).map { SignInPlan(step: .authorize, reason: $0, id: planID(), mvpd: mvpd.id) }
    }

    /// Why nobody has to sign in, beside a session.
    private func standing(_ call: DeviceCall, _ mvpd: Mvpd) -> SignInReason? {
        if case .tempPass = mvpd.signIn { return .temporary }
        return rule(call.requestor, mvpd.id, call.device).map { _ in .degraded }
    }

    /// With a new code.
    func wait(_ call: DeviceCall, _ request: BeginSignInRequest, because reason: SignInReason = .none) -> SignInPlan {
        var record = newCode(call)
        Self.fill(&record, request.mvpd, request.domainName, request.redirectURL)
        let client = clientID(call.accessToken)
        // There before it takes the place of another: whoever takes its own place then finds it.
        codes[record.code] = Code(record: record, clientID: client, identity: identity(of: call))
        let key = DerivedIdentity.digest("plan", client, call.deviceID, call.requestor)
        let former = plans.change(key) { code -> String? in
            defer { code = record.code }
            return code
        }
        if let former { codes.change(former) { if $0?.record.used == false { $0 = nil } } }
        return Self.plan(record, reason)
    }

    public func continueSignIn(_ request: ContinueSignInRequest, context: CallContext) async throws -> SignInPlan {
        try requireBearer(request.accessToken)
        let requestor = try requireCovered(request.requestor, by: request.accessToken)
        let code = try liveCode(request.code, requestor: requestor.id)
        var record = code.record
        // As the code's own device would ask.
        let bearer = code.clientID == Self.anybody ? "any" : "double-\(code.clientID)"
        let call = DeviceCall(accessToken: bearer, requestor: requestor.id, deviceID: record.deviceID, device: record.device, api: .v2)
        if record.used {
            let made = try held(at: Place(device: record.deviceID, requestor: requestor.id)).first { $0.code == record.id }?.subject.session
            record.mvpd = made?.mvpd ?? record.mvpd
            let reason: SignInReason = made?.kind == .degraded ? .degraded : made?.kind == .tempPass ? .temporary : .authenticated
            return Self.plan(record, reason, step: .authorize)
        }
        try requireGood(request.mvpd, request.redirectURL, requestor)
        Self.fill(&record, request.mvpd, request.domainName, request.redirectURL)
        if !record.mvpd.isEmpty, let plan = try excused(call, try parties(record.mvpd, call).mvpd) {
            return Self.plan(record, plan.reason, step: .authorize)
        }
        let filled = record
        let isThere = codes.change(record.code) { code in
            guard code?.record.id == filled.id, code?.record.used == false else { return false }
            code?.record = filled
            return true
        }
        guard isThere else { throw Self.spentCode }
        return Self.plan(record, .none)
    }

    private func planID() -> String { DerivedIdentity.uuid("plan", "\(numbers.next())") }

    private static func plan(_ record: RegistrationCode, _ reason: SignInReason, step: SignInStep? = nil) -> SignInPlan {
        let lacks = (record.mvpd.isEmpty, record.domainName.isEmpty, record.redirectURL.isEmpty)
        let step = step ?? (lacks.0 || lacks.1 || lacks.2 ? .complete : .authenticate)
        let isIncomplete = step == .complete
        var shown = record
        shown.deviceID = ""
        shown.device = nil
        return SignInPlan(
            step: step, reason: reason, lacksMvpd: isIncomplete && lacks.0, lacksDomainName: isIncomplete && lacks.1,
            lacksRedirectURL: isIncomplete && lacks.2, id: record.id, mvpd: record.mvpd, code: shown)
    }

    private static func fill(_ record: inout RegistrationCode, _ mvpd: String, _ domain: String, _ address: String) {
        if !mvpd.isEmpty { record.mvpd = mvpd }
        if isName(domain) { record.domainName = domain }
        if !address.isEmpty { record.redirectURL = address }
    }

    /// A domain decides nothing: any text on one line is one (clients §4.1).
    static func isName(_ text: String) -> Bool {
        let host = (text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]).prefix { !"/?#:".contains($0) }
        return host.contains { $0 != " " } && host.utf8.count <= longestDomain && !text.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }

    private func requireGood(_ mvpd: String, _ address: String, _ requestor: Requestor) throws(Fault) {
        guard mvpd.isEmpty || config.catalogue.mvpd(mvpd) != nil else { throw Self.unknownMvpd }
        guard address.isEmpty || isAccepted(address, requestor) else { throw Self.badAddress }
    }
}
