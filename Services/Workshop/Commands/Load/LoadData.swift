internal import CommandKit
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Rpc
internal import SamlResponder
internal import Transport

/// The data that the requests of a load need: clients, devices, sessions, codes. Each is made once, when it is first needed.
actor LoadData {
    // The names of the demo catalogue.
    static let application = "acme-tv"
    static let requestor = "ACME1"
    static let domain = "acme.example"
    static let resource = "ACME1-NEWS"
    static let channels = "ACME1-NEWS,ACME1-SPORT,ACME1-KIDS"
    static let freePreview = "Preview10"
    static let mvpd = "NorthCable"
    static let bundle = "example.acme.tv"
    static let device = DeviceInformation(type: "TV", model: "Load", osName: "Linux")

    struct Code: Sendable {
        var token: String
        var code: String
    }

    struct Value: Sendable {
        var call: DeviceCall
        var value: String
    }

    private let cluster: ClusterFile?
    private let identity: TlsIdentity
    private let subject: ClusterService
    private let subjectAddresses: [RpcAddress]
    private let count: Int
    private let series = UInt32.random(in: 0...UInt32.max)
    private let group: any EventLoopGroup
    private var clients: [ClusterService: RpcClient] = [:]
    private var made: [String: Task<any Sendable, any Error>] = [:]

    /// - Parameters:
    ///   - cluster: Where the other services are; `nil`: there are none.
    ///   - count: The number of devices.
    init(_ cluster: ClusterFile?, identity: TlsIdentity, subject: ClusterService, addresses: [RpcAddress], count: Int, group: any EventLoopGroup) {
        self.cluster = cluster
        self.identity = identity
        self.subject = subject
        subjectAddresses = addresses
        self.count = count
        self.group = group
    }

    func shutDown() async {
        for client in clients.values { await client.shutDown() }
    }

    /// Makes a value when it is first needed.
    private func once<Made: Sendable>(_ name: String, _ make: @escaping @Sendable () async throws -> Made) async throws -> Made {
        let task = made[name] ?? Task { try await make() }
        made[name] = task
        guard let value = try await task.value as? Made else { throw Fault(.internal, "\(name) is of another type.") }
        return value
    }

    private func client(of service: ClusterService) throws -> RpcClient {
        if let client = clients[service] { return client }
        let addresses =
            service == subject ? subjectAddresses : cluster?.services[service.rawValue].flatMap { RpcAddress($0.address) }.map { [$0] } ?? []
        guard !addresses.isEmpty else {
            throw CommandFailure("the requests need data of \(service.rawValue)", advice: "start a cluster and pass --home, or choose another method")
        }
        let configuration = RpcClient.Configuration(
            addresses: addresses, peerName: service.certificateName, identity: identity, software: "boxoffice-load")
        let client = RpcClient(configuration: configuration, group: group, logger: Logger(label: "load") { _ in SwiftLogNoOpLogHandler() })
        clients[service] = client
        return client
    }

    /// The service as it describes itself.
    func reflected(_ service: ClusterService) async throws -> ReflectedService {
        try await ReflectedService(service, try client(of: service), patience: .seconds(15))
    }

    private func call<Request: Message, Response: Message>(
        _ service: ClusterService, _ method: UnaryMethod<Request, Response>, _ request: Request
    ) async throws -> Response {
        try await client(of: service).call(method, request, context: CallContext(deadline: .now.advanced(by: .seconds(15))))
    }

    // MARK: Clients and devices

    nonisolated func softwareStatement() throws -> String {
        guard let statement = cluster?.softwareStatements[Self.application] else {
            throw CommandFailure(
                "there is no software statement of \(Self.application)", advice: "start a cluster with ./Services/up, or pass its folder as --home")
        }
        return statement
    }

    func client() async throws -> RegisteredClient {
        try await once("client") {
            try await self.call(
                .authentication, AuthenticationMethods.registerClient,
                RegisterClientRequest(softwareStatement: try self.softwareStatement(), device: Self.device))
        }
    }

    func accessToken() async throws -> String {
        // A double of authentication accepts every token.
        if isDoubled(.authentication) { return "load" }
        return try await once("token") {
            let client = try await self.client()
            return try await self.call(
                .authentication, AuthenticationMethods.issueAccessToken,
                IssueAccessTokenRequest(clientID: client.clientID, clientSecret: client.clientSecret, grantType: "client_credentials")
            ).accessToken
        }
    }

    private func isDoubled(_ service: ClusterService) -> Bool { service != subject && cluster?.doubles?.contains(service.rawValue) == true }

    /// Devices without a session.
    func devices() async throws -> [DeviceCall] {
        let token = try await accessToken()
        return (0..<count).map { number in
            DeviceCall(
                accessToken: token, requestor: Self.requestor, deviceID: "load-\(series)-\(number)", deviceType: "TV", device: Self.device,
                clientAddress: "127.0.0.1", userAgent: "boxoffice-load")
        }
    }

    /// Devices with a session: with a double of authentication every device has one, else that of a free preview.
    func signedInDevices() async throws -> [DeviceCall] {
        let devices = try await devices()
        if isDoubled(.authentication) { return devices }
        return try await once("sessions") {
            try await Self.concurrently(devices) { device in
                _ = try await self.call(
                    .authentication, AuthenticationMethods.startFreePreview,
                    StartFreePreviewRequest(call: device, mvpd: Self.freePreview, domainName: Self.domain))
                return device
            }
        }
    }

    func registrationCodes() async throws -> [Code] {
        let devices = try await devices()
        return try await once("codes") {
            try await Self.concurrently(devices) { device in
                let code = try await self.call(
                    .authentication, AuthenticationMethods.createRegistrationCode, CreateRegistrationCodeRequest(call: device))
                return Code(token: device.accessToken, code: code.code)
            }
        }
    }

    /// Devices that may watch the resource.
    func authorizedDevices() async throws -> [DeviceCall] {
        let devices = try await signedInDevices()
        return try await once("decisions") {
            try await Self.concurrently(devices) { device in
                _ = try await self.call(.authorization, AuthorizationMethods.authorize, AuthorizeRequest(call: device, resource: Self.resource))
                return device
            }
        }
    }

    /// Devices with an opt-in to Automatic Sign-In.
    func values() async throws -> [Value] {
        let devices = isDoubled(.authentication) ? try await devices() : try await personallySignedIn()
        return try await once("values") {
            try await Self.concurrently(devices) { device in
                let issued = try await self.call(
                    .autosignin, AutomaticSignInMethods.issueToken,
                    IssueTokenRequest(call: device, bundleID: Self.bundle, environment: .sandbox, contextAuthorization: .granted))
                _ = try await self.call(
                    .autosignin, AutomaticSignInMethods.confirmStored, ConfirmStoredRequest(call: device, familyID: issued.familyID, outcome: .stored)
                )
                return Value(call: device, value: issued.value)
            }
        }
    }

    /// The service accepts only a few redeems per minute from one address (apple §1.2), so every call comes from a different one.
    static func fromManyAddresses(_ values: [Value]) -> [Value] {
        (0..<65_536).map { number in
            var value = values[number % values.count]
            value.call.clientAddress = "10.99.\(number / 256).\(number % 256)"
            return value
        }
    }

    /// Devices signed in at the stand-in MVPD, each as another person: an account may have only so many Apple Accounts.
    private func personallySignedIn() async throws -> [DeviceCall] {
        guard let cluster else {
            throw CommandFailure("the requests need signed-in people", advice: "start a cluster with ./Services/up, or pass its folder as --home")
        }
        let pki = URL(fileURLWithPath: cluster.pki.clientKey).deletingLastPathComponent()
        let mvpd = try LoadMvpd.play(Self.mvpd, of: cluster, pki: pki)
        let devices = try await devices()
        return try await once("people") {
            try await Self.concurrently(devices) { device in
                try await self.signIn(device, mvpd)
                return device
            }
        }
    }

    private func signIn(_ device: DeviceCall, _ mvpd: PlayedMvpd) async throws {
        let code = try await call(.authentication, AuthenticationMethods.createRegistrationCode, CreateRegistrationCodeRequest(call: device)).code
        let start = try await call(
            .authentication, AuthenticationMethods.startSignIn,
            StartSignInRequest(
                requestor: Self.requestor, mvpd: Self.mvpd, registrationCode: code, domainName: Self.domain,
                redirectURL: "https://\(Self.domain)/done", clientAddress: device.clientAddress))
        func parameter(_ name: String) -> String? {
            start.fields.first { $0.name == name }?.value ?? URLComponents(string: start.url)?.queryItems?.first { $0.name == name }?.value
        }
        let request = parameter("SAMLRequest") ?? ""
        guard let facts = start.fields.isEmpty ? AuthnRequestFacts(redirect: request) : AuthnRequestFacts(profileRequest: request) else {
            throw CommandFailure("the sign-in at \(Self.mvpd) holds no SAML request")
        }
        let response = try mvpd.response(to: facts, for: LoadMvpd.person(device.deviceID), now: Date())
        let relayState = parameter("RelayState")
        let outcome = try await call(
            .authentication, AuthenticationMethods.completeSamlSignIn,
            CompleteSamlSignInRequest(
                samlResponse: Data(response.utf8).base64EncodedString(), relayState: relayState ?? "", relayStatePresent: relayState != nil,
                browserSecret: start.browserSecret))
        guard outcome.result == .signedIn else {
            throw CommandFailure("nobody could sign in at \(Self.mvpd)", advice: "'boxoffice explain \(outcome.traceID)' tells why")
        }
    }

    private static func concurrently<Value: Sendable, Made: Sendable>(
        _ values: [Value], _ work: @escaping @Sendable (Value) async throws -> Made
    ) async throws -> [Made] {
        try await withThrowingTaskGroup(of: Made.self) { group in
            var made: [Made] = []
            var rest = values[...]
            for _ in 0..<16 { if let value = rest.popFirst() { group.addTask { try await work(value) } } }
            while let value = try await group.next() {
                made.append(value)
                if let next = rest.popFirst() { group.addTask { try await work(next) } }
            }
            return made
        }
    }
}
