import ContractRuntime
import Contracts
import Faults
import PeerDoubles
import Rpc
import Synchronization

/// How an authentication service differs from a good one.
struct AuthenticationMutant: Sendable, CustomStringConvertible {
    let description: String
    /// The methods that it answers itself.
    let methods: [String]
    /// The requirements that must fail.
    let breaks: [String]
    let register: @Sendable (InMemoryAuthentication, inout RpcServices) -> Void

    init<Request: Message, Response: Message>(
        _ description: String, _ method: UnaryMethod<Request, Response>, breaks: [String],
        _ answer: @escaping @Sendable (InMemoryAuthentication, Request, CallContext) async throws -> Response
    ) {
        self.description = description
        methods = [method.name]
        self.breaks = breaks
        register = { sessions, services in
            services.unary(method) { try await answer(sessions, $0, $1) }
        }
    }

    static let all: [AuthenticationMutant] = tooPermissive + forgetful + unforgetful + tooStrict + disorderly

    // MARK: Too permissive

    private static let tooPermissive = [
        AuthenticationMutant("shows the session of another client", AuthenticationMethods.findProfiles, breaks: ["AUTHN-67"]) {
            sessions, request, context in
            let own = try await sessions.findProfiles(request, context: context)
            guard own.profiles.isEmpty, request.mvpd.isEmpty,
                let other = try? await sessions.getSession(SessionRequest(call: request.call), context: context)
            else { return own }
            return Profiles(profiles: [Profile(session: other)])
        },
        AuthenticationMutant("tells of another requestor's code", AuthenticationMethods.findProfilesByCode, breaks: ["AUTHN-70"]) {
            sessions, request, context in
            var request = request
            if request.requestor == "ACME2" { request.requestor = "ACME1" }
            return try await sessions.findProfilesByCode(request, context: context)
        },
        AuthenticationMutant("tells everybody all of a code's person", AuthenticationMethods.findProfilesByCode, breaks: ["AUTHN-69"]) {
            sessions, request, context in
            var found = try await sessions.findProfilesByCode(request, context: context)
            for index in found.profiles.indices {
                found.profiles[index].metadata?.data.append(MetadataEntry(key: "householdID", value: .text("home")))
            }
            return found
        },
        AuthenticationMutant("permits what nobody decided", SessionsMethods.findSessionToPlay, breaks: ["AUTHN-100"]) { sessions, request, context in
            var found = try await sessions.findSessionToPlay(request, context: context)
            found.decisions = UpstreamDecisions(decisions: [UpstreamDecision(resource: request.resource, isPermitted: true)])
            return found
        },
        AuthenticationMutant("sends browsers anywhere", AuthenticationMethods.beginSignIn, breaks: ["AUTHN-59"]) { sessions, request, context in
            var request = request
            if !request.redirectURL.isEmpty { request.redirectURL = "https://acme.example/done" }
            return try await sessions.beginSignIn(request, context: context)
        },
        AuthenticationMutant("does not look at a token's signature", AuthenticationMethods.findProfiles, breaks: ["AUTHN-80"]) {
            sessions, request, context in
            var request = request
            let token = request.call?.subjectToken ?? ""
            let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            if parts.count == 3 {
                let first = genuine.withLock { genuine in
                    if genuine[parts[1]] == nil { genuine[parts[1]] = token }
                    return genuine[parts[1]] ?? token
                }
                request.call?.subjectToken = first
            }
            return try await sessions.findProfiles(request, context: context)
        },
    ]

    /// The first token of its claims: the genuine one.
    private static let genuine = Mutex<[String: String]>([:])

    // MARK: Forgetful

    private static let forgetful = [
        AuthenticationMutant("does not log out", AuthenticationMethods.endProfile, breaks: ["AUTHN-68", "AUTHN-69", "AUTHN-72"]) {
            sessions, request, context in
            let found = FindProfilesRequest(call: request.call, mvpd: request.mvpd)
            guard try await sessions.findProfiles(found, context: context).profiles.isEmpty else {
                return EndedProfile(end: .visit, visitURL: "https://boxoffice.example/logout?handle=1")
            }
            return EndedProfile(end: .none)
        },
        AuthenticationMutant("lets replaced codes live", AuthenticationMethods.beginSignIn, breaks: ["AUTHN-60"]) { sessions, request, context in
            let plan = try await sessions.beginSignIn(request, context: context)
            guard plan.step == .authenticate else { return plan }
            let code = try await sessions.createRegistrationCode(CreateRegistrationCodeRequest(call: request.call), context: context)
            return try await sessions.continueSignIn(
                ContinueSignInRequest(
                    accessToken: request.call?.accessToken ?? "", requestor: request.call?.requestor ?? "", code: code.code, mvpd: request.mvpd,
                    domainName: request.domainName, redirectURL: request.redirectURL), context: context)
        },
        AuthenticationMutant("begins each trial anew", SessionsMethods.spendTempPass, breaks: ["AUTHN-78"]) {
            sessions, request, context in
            for scope in [ResetTempPassRequest.Scope.deviceID(""), .key("")] {
                let reset = ResetTempPassRequest(requestor: request.requestor, mvpd: request.mvpd, scope: scope)
                _ = try await sessions.resetTempPass(reset, context: context)
            }
            return try await sessions.spendTempPass(request, context: context)
        },
        AuthenticationMutant("knows one MVPD of a device", AuthenticationMethods.findProfiles, breaks: ["AUTHN-68"]) { sessions, request, context in
            let found = try await sessions.findProfiles(request, context: context)
            return Profiles(profiles: Array(found.profiles.prefix(1)))
        },
        AuthenticationMutant("forgets what was sent for a code", AuthenticationMethods.continueSignIn, breaks: ["AUTHN-61", "AUTHN-63"]) {
            sessions, request, context in
            var plan = try await sessions.continueSignIn(
                ContinueSignInRequest(accessToken: request.accessToken, requestor: request.requestor, code: request.code), context: context)
            (plan.lacksMvpd, plan.lacksDomainName, plan.lacksRedirectURL) = (false, false, false)
            return plan
        },
    ]

    // MARK: What was another programmer's

    /// It repeats its earlier answers, whatever the catalogue says since.
    private static let unforgetful = [
        AuthenticationMutant("goes on with sessions", AuthenticationMethods.getSession, breaks: ["AUTHN-96", "AUTHN-97"]) {
            sessions, request, context in
            try await again(toldSessions, request.call?.deviceID) { try await sessions.getSession(request, context: context) }
        },
        AuthenticationMutant("goes on with codes", AuthenticationMethods.getRegistrationCode, breaks: ["AUTHN-96"]) { sessions, request, context in
            try await again(toldCodes, request.code) { try await sessions.getRegistrationCode(request, context: context) }
        },
        AuthenticationMutant("goes on with profiles", AuthenticationMethods.findProfiles, breaks: ["AUTHN-97"]) { sessions, request, context in
            try await again(toldProfiles, request.call?.deviceID) {
                let found = try await sessions.findProfiles(request, context: context)
                if found.profiles.isEmpty { throw Fault(.authenticationSessionMissing, "none") }
                return found
            }
        },
        AuthenticationMutant("goes on with clients", AuthenticationMethods.verifyAccessToken, breaks: ["AUTHN-98"]) { sessions, request, context in
            try await again(toldClients, request.accessToken) { try await sessions.verifyAccessToken(request, context: context) }
        },
        AuthenticationMutant("goes on with trials", SessionsMethods.spendTempPass, breaks: ["AUTHN-99"]) { sessions, request, context in
            if overTrials[request.deviceID] != nil { throw Fault(.temporaryAccessResourcesLimitExceeded, "used up") }
            do {
                return try await sessions.spendTempPass(request, context: context)
            } catch {
                overTrials[request.deviceID] = true
                throw error
            }
        },
    ]

    private static let toldSessions = Kept<Session>()
    private static let toldCodes = Kept<RegistrationCode>()
    private static let toldProfiles = Kept<Profiles>()
    private static let toldClients = Kept<VerifiedClient>()
    private static let overTrials = Kept<Bool>()

    private static func again<Answer>(_ told: Kept<Answer>, _ key: String?, _ ask: () async throws -> Answer) async throws -> Answer {
        do {
            let answer = try await ask()
            told[key ?? ""] = answer
            return answer
        } catch {
            guard let known = told[key ?? ""] else { throw error }
            return known
        }
    }

    // MARK: Too strict

    private static let tooStrict = [
        AuthenticationMutant("hands no sign-in over", AuthenticationMethods.beginSignIn, breaks: ["AUTHN-87"]) { sessions, request, context in
            // The code is another client's.
            var request = request
            if request.call?.accessToken.isEmpty == false { request.call?.accessToken = "any" }
            return try await sessions.beginSignIn(request, context: context)
        },
        AuthenticationMutant("forgets what is switched off", AuthenticationMethods.findProfiles, breaks: ["AUTHN-91"]) { sessions, request, context in
            let found = try await sessions.findProfiles(request, context: context)
            if found.profiles.isEmpty, request.mvpd.isEmpty { _ = try? await sessions.logout(LogoutRequest(call: request.call), context: context) }
            return found
        },
        AuthenticationMutant("takes only registered domains", AuthenticationMethods.beginSignIn, breaks: ["AUTHN-58"]) { sessions, request, context in
            var request = request
            if request.domainName != "acme.example" { request.domainName = "" }
            return try await sessions.beginSignIn(request, context: context)
        },
        AuthenticationMutant("logs out everywhere", AuthenticationMethods.endProfile, breaks: ["AUTHN-68", "AUTHN-72"]) {
            sessions, request, context in
            let ended = try await sessions.endProfile(request, context: context)
            _ = try await sessions.logout(LogoutRequest(call: request.call), context: context)
            return ended
        },
        AuthenticationMutant("does not know sign-ins by REST v1", AuthenticationMethods.beginSignIn, breaks: ["AUTHN-65"]) {
            sessions, request, context in
            var request = request
            if request.call?.deviceID.isEmpty == false { request.call?.deviceID += "-v2" }
            return try await sessions.beginSignIn(request, context: context)
        },
    ]

    // MARK: Not idempotent, in the wrong order, for the wrong time

    private static let disorderly = [
        AuthenticationMutant("makes another code each time", AuthenticationMethods.continueSignIn, breaks: ["AUTHN-61"]) {
            sessions, request, context in
            var plan = try await sessions.continueSignIn(request, context: context)
            let first = plan.code?.code.prefix(1) ?? ""
            plan.code?.code = "AAAAAA\(first)"
            return plan
        },
        AuthenticationMutant("looks at the MVPD before the bearer", AuthenticationMethods.findProfiles, breaks: ["AUTHN-66"]) {
            sessions, request, context in
            if request.mvpd == "Nowhere" { throw Fault(.invalidMvpd, "The MVPD is not known.") }
            return try await sessions.findProfiles(request, context: context)
        },
        AuthenticationMutant("makes codes for an hour", AuthenticationMethods.beginSignIn, breaks: ["AUTHN-57"]) { sessions, request, context in
            var plan = try await sessions.beginSignIn(request, context: context)
            plan.code?.expiresAtMilliseconds += 1_800_000
            return plan
        },
        AuthenticationMutant("starts trials by looking at them", AuthenticationMethods.findProfiles, breaks: ["AUTHN-76"]) {
            sessions, request, context in
            let found = try await sessions.findProfiles(request, context: context)
            if found.profiles.first?.session?.kind == .tempPass {
                let play = SpendTempPassRequest(
                    deviceID: request.call?.deviceID ?? "", requestor: request.call?.requestor ?? "", resource: "LOOK", genericData: request.identity,
                    mvpd: request.mvpd)
                _ = try await sessions.spendTempPass(play, context: context)
            }
            return found
        },
    ]
}
