internal import Contracts
internal import Faults

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
