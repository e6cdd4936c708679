internal import Contracts
internal import Cryptography
internal import Faults

/// The records that were made while another programmer had the id: `since_ms` of the catalogue's entries. Without it everything is as ever, which the
/// other requirements try.
extension AuthenticationRequirements {
    static let lives = [
        Requirement(
            "AUTHN-96",
            "A session and a code that are older than their requestor's since_ms are not told, and lead nowhere; younger ones are. With since_ms 0 they are as they were.",
            source: "config.proto Requestor.since_ms"
        ) { examination in
            let (app, device) = (try await TestApp(examination), TestApp.device())
            let code = try await app.code(device)
            let session = try await app.preview(device)
            let show = RegistrationCodeRequest(accessToken: app.token, requestor: "ACME1", code: code.code)
            try await app.conversation.call(AuthenticationMethods.getRegistrationCode, show)
            _ = try await app.session(on: device)
            let since = max(code.generatedAtMilliseconds, session.createdAtMilliseconds) + 1
            let change: (inout Configuration) -> Void = { configuration in
                for index in configuration.requestors.indices where configuration.requestors[index].id == "ACME1" {
                    configuration.requestors[index].sinceMilliseconds = since
                }
            }
            try await examination.peers().withCatalogue(change, until: { try await app.isSignedOut(device) }) {
                try await app.requireMissing(on: device)
                let unknown: Set = ["invalid_registration_code"]
                try await app.conversation.refusal(of: AuthenticationMethods.getRegistrationCode, show, codes: unknown)
                try await app.conversation.refusal(
                    of: AuthenticationMethods.startSignIn, app.startSignIn(code.code, mvpd: "Preview10"), codes: unknown)
                let next = TestApp.device()
                try await app.preview(next)
                _ = try await app.session(on: next)
                let own = RegistrationCodeRequest(accessToken: app.token, requestor: "ACME1", code: try await app.code(next).code)
                try await app.conversation.call(AuthenticationMethods.getRegistrationCode, own)
            }
            let again = try await app.session(on: device)
            guard again == session else { throw Unmet(FrameText.text(session), came: FrameText.text(again)) }
        },
        Requirement(
            "AUTHN-97",
            "A session that is older than its MVPD's since_ms is not told, neither by its code nor as a profile; those of other MVPDs, and younger ones, are.",
            source: "config.proto Mvpd.since_ms"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, other) = (mvpd.app, TestApp.device())
                let (pending, session) = try await mvpd.signIn()
                guard try await !app.profiles(on: pending.device).isEmpty else { throw Unmet("a profile", came: "none") }
                try await app.preview(other)
                let change: (inout Configuration) -> Void = { configuration in
                    for index in configuration.mvpds.indices where configuration.mvpds[index].id == TestMvpd.id {
                        configuration.mvpds[index].sinceMilliseconds = session.createdAtMilliseconds + 1
                    }
                }
                try await examination.peers().withCatalogue(change, until: { try await app.isSignedOut(pending.device) }) {
                    try await mvpd.requireNoSession(pending, isErased: true)
                    try await app.requireMissing(on: pending.device)
                    try await app.requireNoProfile(on: pending.device)
                    _ = try await app.session(on: other)
                    _ = try await mvpd.signIn()
                }
                let again = try await app.session(on: pending.device)
                guard again == session else { throw Unmet(FrameText.text(session), came: FrameText.text(again)) }
            }
        },
        Requirement(
            "AUTHN-98",
            "A client that registered by a listed statement before its place of legacy_since_ms is `invalid_client`; one that registers by it later is not.",
            source: "config.proto Application.legacy_statements, Application.legacy_since_ms"
        ) { examination in
            let app = try await TestApp(examination)
            let statement = TestApp.device()
            func listed(since: UInt64) -> (inout Configuration) -> Void {
                { configuration in
                    for index in configuration.applications.indices where configuration.applications[index].id == "acme-tv" {
                        configuration.applications[index].legacyStatements = [Hex.encode(SHA256.hash(statement))]
                        configuration.applications[index].legacySinceMilliseconds = [since]
                    }
                }
            }
            let register = RegisterClientRequest(softwareStatement: statement)
            let registered = { () async throws -> RegisteredClient in
                try await app.conversation.call(AuthenticationMethods.registerClient, register)
            }
            func asks(_ client: RegisteredClient) -> IssueAccessTokenRequest {
                IssueAccessTokenRequest(clientID: client.clientID, clientSecret: client.clientSecret, grantType: "client_credentials")
            }
            func check(_ client: RegisteredClient) async throws -> VerifyAccessTokenRequest {
                let issued = try await app.conversation.call(AuthenticationMethods.issueAccessToken, asks(client))
                let request = VerifyAccessTokenRequest(accessToken: issued.accessToken)
                try await app.conversation.call(AuthenticationMethods.verifyAccessToken, request)
                return request
            }
            let peers = try examination.peers()
            let isListed = { () async throws -> Bool in
                if case .answer = try await app.conversation.outcome(of: AuthenticationMethods.registerClient, register) { true } else { false }
            }
            try await peers.withCatalogue(listed(since: 0), until: isListed) {
                let former = try await registered()
                let verify = try await check(former)
                let since = (former.issuedAtSeconds + 2) * 1000
                let isRefused = { () async throws -> Bool in
                    let outcome = try await app.conversation.outcome(of: AuthenticationMethods.verifyAccessToken, verify)
                    return if case .fault = outcome { true } else { false }
                }
                try await peers.withCatalogue(listed(since: since), until: isRefused) {
                    try await app.conversation.refusal(of: AuthenticationMethods.verifyAccessToken, verify, codes: ["invalid_client"])
                    try await app.conversation.refusal(of: AuthenticationMethods.issueAccessToken, asks(former), codes: ["invalid_client"])
                    try await TestClock.pass(since + 1000)
                    _ = try await check(try await registered())
                }
                try await app.conversation.call(AuthenticationMethods.verifyAccessToken, verify)
            }
        },
        Requirement(
            "AUTHN-99", "A trial that began before its requestor's since_ms is a new one, once.", source: "config.proto Requestor.since_ms"
        ) { examination in
            let (app, device) = (try await TestApp(examination), TestApp.device())
            let most = try app.promotedResources(examination)
            let identity = #"{"email":"\#(device)@conformance.example"}"#
            func spend(_ number: Int) -> SpendTempPassRequest {
                SpendTempPassRequest(deviceID: device, requestor: "ACME1", resource: "VOD-\(number)", genericData: identity, mvpd: "PromoVod")
            }
            let over: Set = ["temporary_access_resources_limit_exceeded"]
            func useUp() async throws -> UInt64 {
                var end: UInt64 = 0
                for number in 0..<most {
                    end = try await app.conversation.call(SessionsMethods.spendTempPass, spend(number)).expiresAtMilliseconds
                }
                try await app.conversation.refusal(of: SessionsMethods.spendTempPass, spend(most), codes: over)
                return end
            }
            guard case .tempPass(let terms) = try examination.peers().configuration.mvpds.first(where: { $0.id == "PromoVod" })?.signIn else {
                throw NotApplicable("PromoVod is no TempPass")
            }
            let began = try await useUp() - UInt64(terms.ttlSeconds) * 1000
            let change: (inout Configuration) -> Void = { configuration in
                for index in configuration.requestors.indices where configuration.requestors[index].id == "ACME1" {
                    configuration.requestors[index].sinceMilliseconds = began + 1
                }
            }
            let find = FindProfilesRequest(call: app.callV2(device), mvpd: "PromoVod", identity: identity)
            let isNew = { () async throws -> Bool in
                if case .answer = try await app.conversation.outcome(of: AuthenticationMethods.findProfiles, find) { true } else { false }
            }
            try await examination.peers().withCatalogue(change, until: isNew) { _ = try await useUp() }
        },
    ]
}

extension TestApp {
    fileprivate func isSignedOut(_ device: String) async throws -> Bool {
        let outcome = try await conversation.outcome(of: AuthenticationMethods.getSession, SessionRequest(call: call(device)))
        return if case .fault = outcome { true } else { false }
    }

    /// - Throws: `Unmet` when one of the calls tells a session of the device.
    fileprivate func requireMissing(on device: String) async throws {
        try await requireNoSession(on: device)
        try await conversation.refusal(
            of: SessionsMethods.findSession, SessionRequest(call: call(device)), codes: ["authentication_session_missing"])
    }
}

extension AuthenticationRequirements {
    static let storedTokens = [
        Requirement(
            "AUTHN-55",
            "A code's maker gets a token of its session to keep; the token stands for the session in FindSession and GetUserMetadata, with and without a bearer, until a logout.",
            source: "authentication.proto IssueStoredToken, StoredToken, SessionSubject"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let code = try await app.code(device).code
            var request = SessionByCodeRequest(accessToken: app.token, requestor: "ACME1", code: code)
            let method = AuthenticationMethods.issueStoredToken
            try await app.conversation.refusal(of: method, request, codes: ["authentication_session_missing"])
            try await app.conversation.call(AuthenticationMethods.startSignIn, app.startSignIn(code, mvpd: "Preview10"))
            let token = try await app.conversation.call(method, request).token
            guard !token.isEmpty else { throw Unmet("a token", came: "none") }
            request.demandsDevice = true
            try await app.conversation.refusal(of: method, request, codes: ["invalid_registration_code"])
            request.deviceID = device
            try await app.conversation.call(method, request)
            let session = try await app.session(on: device)
            for bearer in [app.token, ""] {
                var call = DeviceCall(accessToken: bearer, requestor: "ACME1", storedToken: StoredToken(text: token, mvpd: "Preview10"))
                let subject = try await app.conversation.call(SessionsMethods.findSession, SessionRequest(call: call))
                guard subject.session == session, subject.deviceID == device, !subject.sessionIndex.isEmpty, !subject.deviceFingerprint.isEmpty else {
                    throw Unmet("the session of device \(device), with an index and a fingerprint", came: FrameText.text(subject))
                }
                try await app.conversation.call(AuthenticationMethods.getUserMetadata, SessionRequest(call: call))
                call.storedToken = StoredToken(sessionIndex: subject.sessionIndex)
                try await app.conversation.call(SessionsMethods.findSession, SessionRequest(call: call))
                try await Self.refusals(of: token, bearer: bearer, app)
            }
            try await app.conversation.call(AuthenticationMethods.logout, LogoutRequest(call: app.call(device)))
            let call = DeviceCall(accessToken: app.token, requestor: "ACME1", storedToken: StoredToken(text: token))
            try await app.conversation.refusal(
                of: SessionsMethods.findSession, SessionRequest(call: call), codes: ["authentication_session_missing"])
            try await app.conversation.refusal(of: method, request, codes: ["authentication_session_expired"])
        },
        Requirement(
            "AUTHN-56",
            "IdentifyDevice gives the same id for the same application and fingerprint of 32 hexadecimal digits, and for its own seal; random ones otherwise.",
            source: "authentication.proto IdentifyDevice"
        ) { examination in
            let app = try await TestApp(examination)
            let fingerprint = String(
                TestApp.device().utf8.reduce(into: UInt64(14_695_981_039_346_656_037)) { $0 = ($0 ^ UInt64($1)) &* 1_099_511_628_211 }, radix: 16)
            let digits = String(repeating: "0", count: max(0, 32 - fingerprint.count)) + fingerprint
            func identify(_ bearer: String, _ fingerprint: String, seal: String = "") async throws -> IdentifiedDevice {
                let request = IdentifyDeviceRequest(accessToken: bearer, fingerprint: fingerprint, seal: seal, clientAddress: "192.0.2.7")
                return try await app.conversation.call(AuthenticationMethods.identifyDevice, request)
            }
            let first = try await identify(app.token, digits)
            let second = try await TestApp(examination)
            guard try await identify(second.token, digits).deviceID == first.deviceID else { throw Unmet("\(first.deviceID) again", came: "another") }
            guard try await identify("", "anything", seal: first.seal).deviceID == first.deviceID else {
                throw Unmet("the sealed id", came: "another")
            }
            for (bearer, fingerprint) in [("", digits), (app.token, "short")] {
                let one = try await identify(bearer, fingerprint).deviceID
                let other = try await identify(bearer, fingerprint).deviceID
                guard one != other, one != first.deviceID else { throw Unmet("an id of its own for each call", came: one) }
            }
            for wrong in ["", String(repeating: "f", count: 513)] {
                try await app.conversation.refusal(
                    of: AuthenticationMethods.identifyDevice, IdentifyDeviceRequest(fingerprint: wrong), codes: ["invalid_request"])
            }
            try await app.conversation.refusal(
                of: AuthenticationMethods.identifyDevice, IdentifyDeviceRequest(accessToken: "x", fingerprint: digits), codes: ["access_denied"])
        },
    ]

    /// Another requestor, device or MVPD, or a changed token: each is answered as if the device were not signed in.
    private static func refusals(of token: String, bearer: String, _ app: TestApp) async throws {
        let stored = StoredToken(text: token)
        let wrong = [
            DeviceCall(accessToken: bearer, requestor: "ACME2", storedToken: stored),
            DeviceCall(accessToken: bearer, requestor: "ACME1", deviceID: "another", storedToken: stored),
            DeviceCall(accessToken: bearer, requestor: "ACME1", storedToken: StoredToken(text: token, mvpd: "NorthCable")),
            DeviceCall(accessToken: bearer, requestor: "ACME1", storedToken: StoredToken(text: String(token.dropLast(4)) + "AAA=")),
        ]
        for call in wrong {
            try await app.conversation.refusal(
                of: SessionsMethods.findSession, SessionRequest(call: call), codes: ["authentication_session_missing"])
        }
    }
}
