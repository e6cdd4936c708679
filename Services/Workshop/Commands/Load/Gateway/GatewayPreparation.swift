internal import CommandKit
internal import EntitlementClient
internal import Foundation
internal import LoadTool
internal import SamlResponder
internal import Simulation
internal import TextEncodings

/// Makes what the scenarios need: registered apps, and devices that are signed in and permitted.
struct GatewayPreparation: Sendable {
    let exchange: HTTPExchange
    /// Base URL of the gateway under load.
    let gateway: String
    let cluster: ClusterFile
    /// The local cluster's keys: the tool signs as the MVPD.
    let pki: URL
    let scenario: GatewayScenario
    let api: GatewayScenario.Api
    let deviceCount: Int
    var requestor = "ACME1"
    var mvpdID = "NorthCable"
    var resource = "ACME1-NEWS"

    /// Apps that register; each then makes calls for many devices, as a programmer's service does.
    private static let clientCount = 16
    /// Most calls of the preparation under way at once.
    private static let atOnce = 24

    /// - Parameter progress: Called with what is being made, how many are, and how many there will be.
    /// - Throws: `CommandFailure` at the first step that fails.
    func prepare(progress: @escaping @Sendable (String, Int, Int) -> Void) async throws -> GatewaySetup {
        guard let statement = cluster.softwareStatements["acme-tv"] else {
            throw CommandFailure("the cluster has no software statement of acme-tv", advice: "the scenarios need the demo catalogue")
        }
        let (host, run) = (try Self.host(of: gateway), String(UUID().uuidString.prefix(8)).lowercased())
        let apps = try await all(Self.clientCount, { progress("apps registered", $0, Self.clientCount) }) { number in
            var app = StreamingApp(
                exchange: exchange, gateway: gateway, requestor: requestor, deviceID: "load-\(run)-app-\(number)", hardware: .appleTV)
            try await app.register(statement: statement)
            return app
        }
        let mvpd = try LoadMvpd.play(mvpdID, of: cluster, pki: pki)
        if scenario.needsUpstream { try await requireUpstream() }
        let waiting = scenario == .polling ? waitingDevices(run, clients: apps.count) : []
        let setup = GatewaySetup(
            calls: GatewayCalls(host: host, requestor: requestor),
            clients: apps.map { GatewayCalls.Client(accessToken: $0.accessToken, host: host, hardware: .appleTV) },
            devices: scenario.needsDevices ? try await signIn(apps, mvpd, run, progress) : waiting, mvpd: mvpd, mvpdID: mvpdID,
            // A look at the list of MVPDs may make upstream's be read.
            api: api, domain: scenario == .polling ? "" : try await domain(), resource: resource, gateway: gateway, run: run,
            signer: scenario == .signed ? try SignedCalls.signer(cluster, requestor: requestor) : nil)
        return setup
    }

    /// Signs devices in by token exchange, each as another person, and gets each a permit to watch.
    private func signIn(
        _ apps: [StreamingApp], _ mvpd: PlayedMvpd, _ run: String,
        _ progress: @escaping @Sendable (String, Int, Int) -> Void
    ) async throws -> [GatewaySetup.Device] {
        try await all(deviceCount, { progress("devices signed in and permitted", $0, deviceCount) }) { number in
            let owner = apps[number % apps.count]
            if scenario == .bridge { return try await signInUpstream(owner, number, client: number % apps.count, run) }
            let app = StreamingApp(owner, deviceID: "load-\(run)-tv-\(number)")
            if api == .v2 { return try await signInByCodeV2(app, mvpd, number, client: number % apps.count, run) }
            if scenario == .sdk { return try await signInByCode(app, mvpd, number, client: number % apps.count, run) }
            guard let facts = AuthnRequestFacts(profileRequest: try await app.profileRequest(mvpd: mvpdID)) else {
                throw CommandFailure("the profile request for \(mvpdID) holds no sign-in request")
            }
            let response = try mvpd.response(to: facts, for: LoadMvpd.person("\(run)-tv-\(number)"), now: Date())
            try await app.exchange(PlatformAnswerText.encoded(response), mvpd: mvpdID)
            try await app.authorize(resource)
            return GatewaySetup.Device(id: app.deviceID, client: number % apps.count)
        }
    }

    /// Signs a device in through a code, as the tokens of the vendor's SDKs need it.
    private func signInByCode(_ app: StreamingApp, _ mvpd: PlayedMvpd, _ number: Int, client: Int, _ run: String) async throws -> GatewaySetup.Device
    {
        let code = try await app.requestCode().code
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", requestor), ("mso_id", mvpdID), ("domain_name", "adobe.com"),
            ("redirect_url", "\(gateway)/activate/done?code=\(code)"),
        ])
        try await answer("/adobe-services/authenticate/saml?\(query)", mvpd, number, run)
        let calls = SdkCalls(app)
        let token = try await calls.sessionToken(code)
        let permit = try await calls.permit(token, resource)
        return GatewaySetup.Device(
            id: app.deviceID, client: client, forms: [calls.sessionForm(code), calls.permitForm(token, resource), calls.playForm(permit)])
    }

    /// The same by a session of REST v2; its first permit comes with it.
    private func signInByCodeV2(
        _ app: StreamingApp, _ mvpd: PlayedMvpd, _ number: Int, client: Int, _ run: String
    ) async throws -> GatewaySetup.Device {
        let app = V2App(app: app)
        let domain = try await domain()
        let session = try await app.createSession(
            V2App.SignIn(mvpd: mvpdID, domainName: domain, redirectURL: "https://\(domain)/signed-in"))
        try await answer(try V2Player.interactive(session).url, mvpd, number, run)
        let decision = try await app.authorize(resource, at: mvpdID)
        guard decision.authorized else { throw CommandFailure("\(resource) is denied to a device: \(decision.error?.reason ?? "without a reason")") }
        return GatewaySetup.Device(id: app.app.deviceID, client: client)
    }

    /// Plays browser and MVPD, from the address that begins a login to the consumer's answer.
    private func answer(_ path: String, _ mvpd: PlayedMvpd, _ number: Int, _ run: String) async throws {
        let begun = try await exchange.send("GET", gateway + path, headers: [("Accept", "text/html")])
        guard let location = begun.header("location"), let items = URLComponents(string: location)?.queryItems,
            let request = items.first(where: { $0.name == "SAMLRequest" })?.value,
            let facts = AuthnRequestFacts(redirect: request.replacing(" ", with: "+"))
        else { throw CommandFailure("a sign-in at \(mvpdID) was answered \(begun.status), without a request for the MVPD") }
        let response = try mvpd.response(to: facts, for: LoadMvpd.person("\(run)-tv-\(number)"), now: Date())
        let cookies = begun.headers.filter { $0.name.lowercased() == "set-cookie" }.map { String($0.value.prefix { $0 != ";" }) }
        let form = FormEncoding.encode([
            ("SAMLResponse", Data(response.utf8).base64EncodedString()), ("RelayState", items.first { $0.name == "RelayState" }?.value ?? ""),
        ])
        let consumer = URLComponents(string: facts.assertionConsumerService)?.path ?? "/"
        let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Cookie", cookies.joined(separator: "; ")), ("Accept", "text/html")]
        let ended = try await exchange.send("POST", gateway + consumer, headers: headers, body: form)
        guard ended.status == 302 else { throw CommandFailure("the MVPD's answer was answered \(ended.status)") }
    }

    func domain() async throws -> String {
        let answer = try await exchange.send("GET", "\(gateway)/api/v1/config/\(FormEncoding.encode(requestor)).json")
        let record = answer.object["requestor"] as? [String: Any]
        guard let domain = (record?["domains"] as? [[String: Any]])?.first?["name"] as? String else {
            throw CommandFailure("the requestor \(requestor) has no domain at \(gateway)", advice: "the scenarios need the demo catalogue")
        }
        return domain
    }

    private static func host(of url: String) throws -> String {
        guard let parts = URLComponents(string: url), let host = parts.host else { throw CommandFailure("'\(url)' is not the address of a gateway") }
        return parts.port.map { "\(host):\($0)" } ?? host
    }

    /// - Returns: In the order of their numbers.
    private func all<Value: Sendable>(
        _ count: Int, _ done: @Sendable (Int) -> Void, _ work: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            var values: [Int: Value] = [:]
            for number in 0..<min(Self.atOnce, count) { group.addTask { (number, try await work(number)) } }
            while let (number, value) = try await group.next() {
                values[number] = value
                done(values.count)
                let next = values.count + Self.atOnce - 1
                if next < count { group.addTask { (next, try await work(next)) } }
            }
            return (0..<count).compactMap { values[$0] }
        }
    }
}

/// Load on the gateway over HTTP or HTTPS.
struct GatewayLoad {
    let target: LoadTargetOptions
    let http: HttpOptions
    let cluster: ClusterFile?
    let home: ClusterHome

    /// - Parameters:
    ///   - name: The name of the scenario.
    ///   - api: The API that its apps call.
    /// - Throws: `OptionRejection` for an unknown scenario, or one that the API has not, `CommandFailure` when the preparation fails.
    func prepare(
        _ name: String, api: String, plan: RunPlan, progress: @escaping @Sendable (String, Int, Int) -> Void
    ) async throws -> LoadPreparation.Prepared {
        guard let scenario = GatewayScenario(rawValue: name) else { throw OptionRejection("--scenario \(name)", "give \(GatewayScenario.names)") }
        guard let api = GatewayScenario.Api(rawValue: api) else { throw OptionRejection("--api \(api)", "give v1 or v2") }
        guard scenario.isOf(api) else { throw OptionRejection("--api v2 and --scenario \(name)", "only apps of REST v1 do so") }
        guard let cluster else {
            throw CommandFailure(
                "no cluster runs in \(home.root.path)",
                advice: "start one with ./Services/up; the scenarios use its software statements, its catalogue and the keys of its stand-in MVPD",
                exit: .unreachable)
        }
        guard !http.insecure else { throw OptionRejection("--insecure and --scenario", "name the authority of the gateway's certificate with --ca") }
        // Its address does not matter: it is this cluster's gateway.
        var peer = target.peer
        peer.ca = peer.ca ?? cluster.pki.ca
        let base = try HttpBase(peer, http: http, cluster)
        var exchange = HTTPExchange(client: HTTPExchange.makeClient(connections: 24, trusting: base.target.tls == nil ? nil : base.authority))
        // A load that ended just before may still affect the service.
        exchange.patience = .seconds(20)
        let preparation = GatewayPreparation(
            exchange: exchange, gateway: base.url, cluster: cluster, pki: home.pki, scenario: scenario, api: api,
            deviceCount: target.devices ?? scenario.standardDevices(plan))
        let outcome = await Result { try await preparation.prepare(progress: progress) }
        try await exchange.client.shutdown()
        let setup = try outcome.get()
        let load = HttpLoad(base.target, plan: plan) { worker, workers in
            scenario.workload(setup, worker: worker, workers: workers)
        }
        var prepared = LoadPreparation.Prepared(
            load: load, service: .gateway, targets: [base.target.tls == nil ? base.host : base.url],
            workload: api == .v1 ? scenario.rawValue : "\(scenario.rawValue) (REST v2)")
        if scenario == .polling { prepared.polling = PollingWatch(cluster, length: Double(plan.plan.warmUp + plan.plan.length) / 1e9) }
        return prepared
    }
}
