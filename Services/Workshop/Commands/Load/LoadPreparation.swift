internal import CommandKit
internal import Contracts
internal import Foundation
internal import LoadReporting
internal import LoadTool
internal import Logging
internal import NIOPosix
internal import Rpc
internal import ServiceKit
internal import Transport

/// Finds the service, makes the requests for it, and collects what the report says about both.
struct LoadPreparation {
    /// A load that is ready to be put on.
    struct Prepared {
        let load: any ServiceLoad
        let service: ClusterService
        let targets: [String]
        let workload: String
        /// Judges the cluster beside the calls; `nil`: nobody does.
        var polling: PollingWatch?

        func report(_ run: RunMeasurement, assertions: [AssertionResult], _ plan: RunPlan, _ output: LoadOutputOptions) -> LoadReport {
            let (isOpen, isPoisson) = if case .open(let isPoisson) = plan.loop { (true, isPoisson) } else { (false, false) }
            let facts = RunFacts(
                id: UUID().uuidString.replacing("-", with: "").lowercased(), name: output.name, tags: (try? output.tags()) ?? [:],
                startedAtMilliseconds: run.startedAtMilliseconds, end: run.end, toolVersion: SoftwareVersion.current,
                commandLine: CommandLine.arguments)
            let settings = RunSettings(
                service: service.rawValue, targets: targets, workload: workload, loop: isOpen ? .open : .closed,
                arrivals: isOpen ? (isPoisson ? .poisson : .constant) : nil, fromLevel: plan.plan.stages.first?.from ?? 0,
                toLevel: plan.plan.stages.last?.to ?? 0, connections: plan.connections, workers: plan.workers, maxOutstanding: plan.maxOutstanding,
                timeoutNanoseconds: plan.timeout, warmUpNanoseconds: plan.plan.warmUp, durationNanoseconds: plan.plan.length,
                callLimit: plan.iterationLimit, seed: plan.seed,
                schedule: plan.plan.stages.map {
                    RunSettings.Stage(lengthNanoseconds: $0.length, fromLevel: $0.from, toLevel: $0.to)
                }, knee: plan.plan.isRamp ? plan.knee : nil)
            return LoadReport(
                run: facts, settings: settings, machine: .current(), totals: run.totals, operations: run.operations, series: run.series,
                steps: run.steps, knee: run.knee, errors: run.errors, assertions: assertions, generator: run.generator,
                iterationTime: run.iterationTime)
        }
    }

    private let subject: LoadSubject
    private let target: LoadTargetOptions
    private let data: DataOptions
    private let http: HttpOptions

    init(_ subject: LoadSubject, _ target: LoadTargetOptions, _ data: DataOptions, _ http: HttpOptions) {
        self.subject = subject
        self.target = target
        self.data = data
        self.http = http
    }

    /// - Parameters:
    ///   - methods: As given on the command line.
    ///   - progress: Called with what is being made, how many are, and how many there will be.
    func prepare(methods: [String], plan: RunPlan, progress: @escaping @Sendable (String, Int, Int) -> Void) async throws -> Prepared {
        if let devices = target.devices, !DeviceCount.range.contains(devices) { throw OptionRejection("--devices \(devices)", "give 1 to 100000") }
        let home = target.peer.clusterHome
        let cluster = try ClusterFile.read(home)
        return subject.service == .gateway
            ? try await gateway(methods, cluster, home, plan, progress) : try await wire(methods, cluster, plan)
    }

    private func gateway(
        _ methods: [String], _ cluster: ClusterFile?, _ home: ClusterHome, _ plan: RunPlan, _ progress: @escaping @Sendable (String, Int, Int) -> Void
    ) async throws -> Prepared {
        guard methods.isEmpty else { throw OptionRejection("--method", "the gateway takes --scenario or --path") }
        guard data.data == nil else { throw OptionRejection("--data", "it is for --method; a request to the gateway has --body") }
        guard data.items == nil else { throw OptionRejection("--items", "it is for --method; the gateway answers with no stream") }
        if let scenario = http.scenario {
            guard http.path.isEmpty else { throw OptionRejection("--path and --scenario", "give one of them") }
            return try await GatewayLoad(target: target, http: http, cluster: cluster, home: home).prepare(
                scenario, api: http.api ?? "v1", plan: plan, progress: progress)
        }
        guard !http.path.isEmpty else {
            throw OptionRejection("the gateway needs something to be asked", "give --path /PATH, or --scenario with \(GatewayScenario.names)")
        }
        return try HttpRequests(options: http, target: target, data: data).prepare(cluster, plan: plan)
    }

    private func wire(_ methods: [String], _ cluster: ClusterFile?, _ plan: RunPlan) async throws -> Prepared {
        guard http.path.isEmpty, http.scenario == nil else {
            throw OptionRejection("--path and --scenario", "they are for the gateway; \(subject.service.rawValue) has --method")
        }
        guard data.data == nil || methods.count == 1 else { throw OptionRejection("--data", "it needs one --method whose request it is") }
        let addresses = try target.peer.addresses(of: subject.service, cluster)
        let identity = try target.peer.identity(cluster)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let takesTokens = methods.contains { $0.lowercased().hasPrefix(AuthorizationMethods.issueMediaToken.name.lowercased()) }
        let made = LoadData(
            cluster, identity: identity, subject: subject.service, addresses: addresses,
            count: target.devices ?? (takesTokens ? DeviceCount.forMediaTokens(plan) : DeviceCount.standard), group: group)
        let outcome = await Result {
            if let text = data.data { return try await given(methods[0], text, made, plan) }
            let chosen = try subject.chosen(methods)
            let prepared = try await prepared(chosen, made)
            return (methods: prepared, workload: Self.description(prepared))
        }
        await made.shutDown()
        try await group.shutdownGracefully()
        let calls = try outcome.get()
        guard data.items == nil || calls.methods.contains(where: { $0.streamItems != nil }) else {
            throw OptionRejection("--items", "\(calls.methods.map(\.name).joined(separator: ", ")) is answered by no stream")
        }
        let wire = WireTarget(
            addresses: addresses, peerName: target.peer.name(of: subject.service), identity: identity, callsPerConnection: plan.maxOutstanding)
        return Prepared(
            load: WireLoad(wire, methods: calls.methods, plan: plan, logger: Logger(label: "load") { _ in SwiftLogNoOpLogHandler() }),
            service: subject.service, targets: addresses.map(\.description), workload: calls.workload)
    }

    /// The requests of `--data`, of a method that the service itself describes.
    private func given(
        _ name: String, _ text: String, _ made: LoadData, _ plan: RunPlan
    ) async throws -> (methods: [PreparedMethod], workload: String) {
        let reflected = try await made.reflected(subject.service)
        let method = try reflected.method(name)
        let option = "--data"
        let rows = try data.file()
        let template = try RequestTemplate(try JsonRequest.text(of: text), columns: rows.columns, option: option)
        let reader = JsonRequest(schema: reflected.schema, method: method)
        let count = template.isConstant ? 1 : max(rows.rows.count, data.requests)
        var random = SplitMix(seed: plan.seed)
        let payloads = try (0..<count).flatMap { sequence in
            let filled = template.filled(sequence: sequence, row: rows.rows[sequence % rows.rows.count], random: &random)
            return try reader.encoded(filled, option: option)
        }
        let offer = subject.methods.first { $0.method.service == method.service && $0.name == method.name }
        let prepared = PreparedMethod(
            method.identity, payloads: payloads, tolerates: offer?.tolerates ?? [], streamItems: try data.streamItems(isStream: method.isStream))
        return ([prepared], "\(method.name) with data of its own\(Self.description(ofItems: prepared.streamItems))")
    }

    private func prepared(_ chosen: [(offer: MethodOffer, weight: Double)], _ made: LoadData) async throws -> [PreparedMethod] {
        var methods: [PreparedMethod] = []
        for (offer, weight) in chosen {
            methods.append(
                PreparedMethod(
                    offer.method, weight: weight, payloads: try await offer.requests(made), tolerates: offer.tolerates,
                    streamItems: try data.streamItems(isStream: offer.isStream)))
        }
        return methods
    }

    private static func description(_ methods: [PreparedMethod]) -> String {
        let total = methods.reduce(0) { $0 + $1.weight }
        return methods.map { method in
            let share = methods.count > 1 ? " \(Quantity.share(method.weight / total))" : ""
            return method.name + share + description(ofItems: method.streamItems)
        }.joined(separator: ", ")
    }

    private static func description(ofItems count: Int?) -> String {
        count.map { " (a stream, ended after \($0) item\($0 == 1 ? "" : "s"))" } ?? ""
    }
}

extension Result where Failure == any Error {
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// Default number of devices that calls come from.
enum DeviceCount {
    static let range = 1...100_000
    static let standard = 50
    /// More take longer to sign in than a run lasts.
    static let most = 20_000

    /// Tokens of the reference form that a person may have for a resource in `span`, in seconds (rest-v1 §7).
    private static let tokensInSpan = 120.0
    private static let span = 120.0
    /// Devices are drawn by chance: some get more calls than others.
    private static let spread = 1.6
    /// The rate that a closed loop may reach, iterations per second.
    private static let closedRate = 5000.0

    /// Enough devices that none asks for more media tokens than it may have, if each iteration takes one and each device belongs to another person.
    static func forMediaTokens(_ plan: RunPlan) -> Int {
        let isOpen = if case .open = plan.loop { true } else { false }
        func rate(_ level: Double) -> Double { isOpen ? level : closedRate }
        let stages = plan.plan.stages
        let first = stages.first.map { rate($0.from) * Double(plan.plan.warmUp) / 1e9 } ?? 0
        let planned = stages.reduce(first) { $0 + (rate($1.from) + rate($1.to)) / 2 * Double($1.length) / 1e9 }
        let total = plan.iterationLimit.map { min(planned, Double($0)) } ?? planned
        let highest = stages.reduce(0) { max($0, rate($1.from), rate($1.to)) }
        let needed = min(highest / (tokensInSpan / span), total / tokensInSpan) * spread
        return max(standard, Int(min(Double(most), needed.rounded(.up))))
    }
}

/// The service under load, and its methods that can be called.
struct LoadSubject {
    let service: ClusterService
    let methods: [MethodOffer]

    /// - Throws: `OptionRejection` naming the services.
    init(_ name: String) throws {
        guard let service = ClusterService(rawValue: name), service != .sandbox else {
            throw OptionRejection("'\(name)' is not a service that takes load", "give config, authentication, authorization, autosignin or gateway")
        }
        self.service = service
        methods = MethodOffer.offers(of: service)
    }

    var listing: String {
        (["\(service.rawValue): --method NAME or NAME=WEIGHT, several make a mix"] + methods.map { "  \($0.name.padding(28))\($0.summary)" })
            .joined(separator: "\n")
    }

    /// - Parameter texts: `NAME` or `NAME=WEIGHT`; none: the first offer.
    /// - Throws: `OptionRejection` naming the methods.
    func chosen(_ texts: [String]) throws -> [(offer: MethodOffer, weight: Double)] {
        guard !texts.isEmpty else { return methods.prefix(1).map { ($0, 1) } }
        let chosen = try texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1)
            let name = String(parts.first ?? "")
            guard let offer = methods.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw OptionRejection("--method \(text)", "\(service.rawValue) has \(methods.map(\.name).joined(separator: ", "))")
            }
            guard let weight = parts.count == 2 ? QuantityText.count(parts[1]) : 1, weight > 0 else {
                throw OptionRejection("--method \(text)", "the weight must be a number above 0")
            }
            return (offer, weight)
        }
        guard Set(chosen.map(\.0.name)).count == chosen.count else { throw OptionRejection("--method", "give each method once") }
        return chosen
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String { self + String(repeating: " ", count: Swift.max(1, width - count)) }
}
