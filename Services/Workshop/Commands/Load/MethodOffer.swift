internal import CommandKit
internal import ContractRuntime
internal import Contracts

/// A method that can be loaded, and how to make requests for it.
struct MethodOffer: Sendable {
    let method: MethodIdentity
    let isStream: Bool
    let summary: String
    /// Fault codes that count as success for these requests.
    let tolerates: [String]
    /// Encoded requests with data that the service knows.
    let requests: @Sendable (LoadData) async throws -> [[UInt8]]

    var name: String { method.name }

    init<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>, _ summary: String, tolerates: [String] = [],
        _ requests: @escaping @Sendable (LoadData) async throws -> [Request]
    ) {
        self.method = method.identity
        isStream = false
        self.summary = summary
        self.tolerates = tolerates
        self.requests = { data in try await requests(data).map { try $0.serialized() } }
    }

    init<Request: Message, Item: Message>(_ method: StreamMethod<Request, Item>, _ summary: String, _ request: Request) {
        self.method = method.identity
        isStream = true
        self.summary = summary
        tolerates = []
        requests = { _ in [try request.serialized()] }
    }

    /// The most usual one first.
    static func offers(of service: ClusterService) -> [MethodOffer] {
        switch service {
        case .config: config + platform
        case .authentication: authentication + platform
        case .authorization: authorization + platform
        case .autosignin: autosignin + platform
        case .gateway, .sandbox: []
        }
    }

    private static let platform = [
        MethodOffer(DiagnosticsMethods.echo, "32 bytes and back: the wire alone") { _ in [EchoMessage(content: Array(0..<32))] },
        MethodOffer(HealthMethods.check, "the service's health") { _ in [CheckHealthRequest()] },
        MethodOffer(HealthMethods.watch, "a stream of the service's health", CheckHealthRequest()),
    ]

    private static let config = [
        MethodOffer(ConfigMethods.getConfiguration, "the whole catalogue") { _ in [GetConfigurationRequest()] },
        MethodOffer(ConfigMethods.watchConfiguration, "a stream: the whole catalogue, then each newer version", WatchConfigurationRequest()),
        MethodOffer(ConfigMethods.issueSoftwareStatement, "a signed statement of acme-tv") { _ in
            [IssueSoftwareStatementRequest(applicationID: LoadData.application)]
        },
    ]

    private static let authentication = [
        MethodOffer(AuthenticationMethods.getSession, "checks the sessions of signed-in devices") { data in
            try await data.signedInDevices().map { SessionRequest(call: $0) }
        },
        MethodOffer(AuthenticationMethods.createRegistrationCode, "a code of a device, written to disk") { data in
            try await data.devices().map { CreateRegistrationCodeRequest(call: $0) }
        },
        MethodOffer(AuthenticationMethods.getRegistrationCode, "looks a code up") { data in
            try await data.registrationCodes().map { RegistrationCodeRequest(accessToken: $0.token, requestor: LoadData.requestor, code: $0.code) }
        },
        MethodOffer(
            AuthenticationMethods.getOwnSessionByCode, "polls, as the maker of a code, for its session",
            tolerates: ["authentication_session_missing"]
        ) { data in
            try await data.registrationCodes().map { SessionByCodeRequest(accessToken: $0.token, requestor: LoadData.requestor, code: $0.code) }
        },
        MethodOffer(
            AuthenticationMethods.issueStoredToken, "asks, as the maker of a code, for the token of its session",
            tolerates: ["authentication_session_missing"]
        ) { data in
            try await data.registrationCodes().map { SessionByCodeRequest(accessToken: $0.token, requestor: LoadData.requestor, code: $0.code) }
        },
        MethodOffer(AuthenticationMethods.identifyDevice, "asks for an id for a device that has none") { _ in
            [IdentifyDeviceRequest(fingerprint: "0123456789abcdef0123456789abcdef", clientAddress: "192.0.2.7")]
        },
        MethodOffer(AuthenticationMethods.getStoredTokenKeys, "keys of stored tokens") { _ in [GetStoredTokenKeysRequest()] },
        MethodOffer(
            AuthenticationMethods.getSessionByCode, "polls for the session of a code that nobody signed in with",
            tolerates: ["authentication_session_missing"]
        ) { data in
            try await data.registrationCodes().map { SessionByCodeRequest(accessToken: $0.token, requestor: LoadData.requestor, code: $0.code) }
        },
        MethodOffer(AuthenticationMethods.getUserMetadata, "user metadata of signed-in devices") { data in
            try await data.signedInDevices().map { SessionRequest(call: $0) }
        },
        MethodOffer(AuthenticationMethods.registerClient, "registers a client, written to disk") { data in
            [RegisterClientRequest(softwareStatement: try data.softwareStatement(), device: LoadData.device)]
        },
        MethodOffer(AuthenticationMethods.issueAccessToken, "an access token of a registered client") { data in
            let client = try await data.client()
            return [IssueAccessTokenRequest(clientID: client.clientID, clientSecret: client.clientSecret, grantType: "client_credentials")]
        },
        MethodOffer(AuthenticationMethods.verifyAccessToken, "verifies an access token") { data in
            [VerifyAccessTokenRequest(accessToken: try await data.accessToken(), requestor: LoadData.requestor)]
        },
        MethodOffer(SessionsMethods.findSession, "what authorization asks for each decision") { data in
            try await data.signedInDevices().map { SessionRequest(call: $0) }
        },
        MethodOffer(AuthenticationMethods.startFreePreview, "begins or looks up a device's free preview") { data in
            try await data.devices().map { StartFreePreviewRequest(call: $0, mvpd: LoadData.freePreview, domainName: LoadData.domain) }
        },
    ]

    private static let authorization = [
        MethodOffer(AuthorizationMethods.authorize, "decides; after the first time from the device's authz token") { data in
            try await data.signedInDevices().map { AuthorizeRequest(call: $0, resource: LoadData.resource) }
        },
        MethodOffer(AuthorizationMethods.issueMediaToken, "a signed short media token") { data in
            try await data.authorizedDevices().map { ResourceRequest(call: $0, resource: LoadData.resource) }
        },
        MethodOffer(AuthorizationMethods.getAuthorization, "looks a decision up") { data in
            try await data.authorizedDevices().map { ResourceRequest(call: $0, resource: LoadData.resource) }
        },
        MethodOffer(AuthorizationMethods.preauthorize, "three channels at once") { data in
            try await data.signedInDevices().map { PreauthorizeRequest(call: $0, resources: ResourceList(text: LoadData.channels)) }
        },
        MethodOffer(AuthorizationMethods.getMediaTokenKeys, "the keys that verify media tokens") { _ in [GetMediaTokenKeysRequest()] },
    ]

    private static let autosignin = [
        MethodOffer(AutomaticSignInMethods.redeemToken, "signs a device in with the value of an Apple Account") { data in
            LoadData.fromManyAddresses(try await data.values()).map {
                RedeemTokenRequest(call: $0.call, value: $0.value, bundleID: LoadData.bundle, environment: .sandbox)
            }
        },
        MethodOffer(AutomaticSignInMethods.getOptInStatus, "the opt-ins of a person") { data in
            try await data.values().map { GetOptInStatusRequest(caller: Caller(who: .device($0.call))) }
        },
        MethodOffer(AutomaticSignInMethods.createWebLink, "a link to a person's devices") { data in
            try await data.values().map { CreateWebLinkRequest(call: $0.call) }
        },
        MethodOffer(SignInWithAppleMethods.createNonce, "a nonce for Sign in with Apple") { data in
            try await data.devices().map { CreateNonceRequest(call: $0, clientID: LoadData.bundle) }
        },
    ]
}
