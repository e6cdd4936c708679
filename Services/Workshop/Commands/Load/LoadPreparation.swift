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
        if let devices = target.devices, !DeviceCount.range.contains(devices) { throw BadOption("--devices \(devices)", "give 1 to 100000") }
        let home = target.peer.clusterHome
        let cluster = try ClusterFile.read(home)
        return subject.service == .gateway
            ? try await gateway(methods, cluster, home, plan, progress) : try await wire(methods, cluster, plan)
    }

    private func gateway(
        _ methods: [String], _ cluster: ClusterFile?, _ home: ClusterHome, _ plan: RunPlan, _ progress: @escaping @Sendable (String, Int, Int) -> Void
    ) async throws -> Prepared {
        guard methods.isEmpty else { throw BadOption("--method", "the gateway takes --scenario or --path") }
        guard data.data == nil else { throw BadOption("--data", "it is for --method; a request to the gateway has --body") }
        guard data.items == nil else { throw BadOption("--items", "it is for --method; the gateway answers with no stream") }
        if let scenario = http.scenario {
            guard http.path.isEmpty else { throw BadOption("--path and --scenario", "give one of them") }
            return try await GatewayLoad(target: target, http: http, cluster: cluster, home: home).prepare(
                scenario, api: http.api ?? "v1", plan: plan, progress: progress)
        }
        guard !http.path.isEmpty else {
            throw BadOption("the gateway needs something to be asked", "give --path /PATH, or --scenario with \(GatewayScenario.names)")
        }
        return try HttpRequests(options: http, target: target, data: data).prepare(cluster, plan: plan)
    }

    private func wire(_ methods: [String], _ cluster: ClusterFile?, _ plan: RunPlan) async throws -> Prepared {
        guard http.path.isEmpty, http.scenario == nil else {
            throw BadOption("--path and --scenario", "they are for the gateway; \(subject.service.rawValue) has --method")
        }
        guard data.data == nil || methods.count == 1 else { throw BadOption("--data", "it needs one --method whose request it is") }
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
            throw BadOption("--items", "\(calls.methods.map(\.name).joined(separator: ", ")) is answered by no stream")
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
