internal import CommandKit
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Foundation
internal import LoadReporting
internal import Rpc
internal import ServiceKit

/// Asks the programs of a running cluster, and the system, how they are.
struct StatusReader: Sendable {
    let home: ClusterHome
    let cluster: ClusterFile
    let exchange: HTTPExchange

    /// - Parameter exchange: Its timeout is how long a program may take to answer.
    static func read(_ home: ClusterHome, _ cluster: ClusterFile) async throws -> ClusterStatus {
        try await HTTPExchange.once { exchange in
            var exchange = exchange
            exchange.timeout = .seconds(3)
            return await StatusReader(home: home, cluster: cluster, exchange: exchange).status()
        }
    }

    func status() async -> ClusterStatus {
        let (remote, here) = (cluster.hostEntries, cluster.processes.filter { cluster.entry(of: $0.copy)?.host == nil })
        let own = here.filter { !isDouble($0.service) && !($0.service == .sandbox && $0.pid == 0) }
        let others = ClusterService.allCases.compactMap { service in cluster.services[service.rawValue].map { (service, $0) } }
            .filter { $0.1.replaced == true || isDouble($0.0) }
        let programs = await withTaskGroup(of: (ServiceCopy, ProgramStatus).self) { group in
            for process in own { group.addTask { (process.copy, await status(of: process)) } }
            for (service, entry) in others { group.addTask { (ServiceCopy(service), await status(of: service, entry)) } }
            for (copy, entry) in remote { group.addTask { (copy, await status(of: copy, entry)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let sorted = programs.sorted { ClusterStarter.precede($0.0, $1.0) }.map(\.1)
        return ClusterStatus(
            home: home.root.path, programs: sorted + [store].compactMap { $0 }, console: cluster.console ?? "\(cluster.administration)/console")
    }

    private func isDouble(_ service: ClusterService) -> Bool { cluster.doubles?.contains(service.rawValue) ?? false }

    private func status(of process: ServiceProcess) async -> ProgramStatus {
        let copy = process.copy
        var status = ProgramStatus(name: copy.name, kind: .own, address: address(of: copy), state: .notRunning)
        status.lastError = LogEnd(path: home.log(of: copy).path).lastError
        guard process.isRunning else {
            let words = LogEnd(path: home.log(of: copy).path).lastWords.map { ": \($0)" } ?? ""
            status.reasons = [process.pid == 0 ? "it was not started" : "process \(process.pid) has ended\(words)"]
            return status
        }
        status.pid = process.pid
        status.add(ProcessAge.read(process.pid))
        (status.state, status.reasons, status.notes) = await readiness(of: copy)
        await addFacts(to: &status, of: copy, pid: process.pid)
        return status
    }

    /// The status of a copy on another host: the copy itself tells everything.
    private func status(of copy: ServiceCopy, _ entry: ClusterFile.Entry) async -> ProgramStatus {
        let name = "\(copy.service.rawValue) at \(entry.host ?? "")"
        var status = ProgramStatus(name: name, kind: .host, address: entry.address, state: .notReady)
        (status.state, status.reasons, status.notes) = await readiness(of: copy)
        await addMetrics(to: &status, of: copy)
        return status
    }

    /// The status of a service that has no process of this cluster's.
    private func status(of service: ClusterService, _ entry: ClusterFile.Entry) async -> ProgramStatus {
        let kind: ProgramStatus.Kind = entry.replaced == true ? .replaced : .double
        var status = ProgramStatus(name: service.rawValue, kind: kind, address: entry.address, state: .notReady)
        let answer = await HealthQuestion(address: entry.address, service: service, pki: cluster.pki).ask()
        (status.version, status.reasons) = (answer.report.flatMap { $0.softwareVersion.isEmpty ? nil : $0.softwareVersion }, answer.problems)
        if answer.problems.isEmpty { status.state = .ready }
        return status
    }

    private func readiness(of copy: ServiceCopy) async -> (ProgramStatus.State, reasons: [String], notes: [String]) {
        guard let url = readinessURL(of: copy) else { return (.notReady, ["cluster.json does not say where it tells"], []) }
        guard let answer = try? await exchange.send("GET", url) else { return (.notReady, ["it does not answer at \(url)"], []) }
        let lines = answer.text.split(separator: "\n").map(String.init)
        guard answer.status != 200 else { return (.ready, [], lines.filter { $0.hasPrefix("degraded: ") }) }
        return (.notReady, lines.isEmpty ? ["it answers \(answer.status) at \(url)"] : lines, [])
    }

    /// Version and catalogue, as the program tells them; the version of one that does not tell is asked of the file that it runs from.
    private func addFacts(to status: inout ProgramStatus, of copy: ServiceCopy, pid: Int32) async {
        await addMetrics(to: &status, of: copy)
        guard status.version == nil, let told = try? Subprocess.run("/proc/\(pid)/exe", ["--version"]), told.status == 0 else { return }
        let words = String(decoding: told.output, as: UTF8.self).split { $0 == " " || $0 == "(" || $0 == ")" || $0 == "\n" }.map(String.init)
        guard words.count >= 3, words[2] == "build" else { return }
        (status.version, status.build) = (words[0], words[1])
    }

    private func addMetrics(to status: inout ProgramStatus, of copy: ServiceCopy) async {
        guard let debug = cluster.entry(of: copy)?.debug, let answer = try? await exchange.send("GET", "http://\(debug)/metrics"),
            answer.status == 200
        else { return }
        let metrics = PrometheusText(answer.text)
        let build = metrics.samples.first { $0.name == "boxoffice_build_info" }
        (status.version, status.build) = (build?.labels["version"], build?.labels["build"])
        let catalogue = metrics.samples.first { $0.name == "boxoffice_catalogue_version" || $0.name == "boxoffice_config_catalogue_version" }
        status.catalogueVersion = catalogue.flatMap { UInt64(exactly: $0.value) }
        let memory = metrics.samples.first { $0.name == "boxoffice_process_resident_bytes" }
        status.residentBytes = status.residentBytes ?? memory.flatMap { Int(exactly: $0.value) }
    }

    private func readinessURL(of copy: ServiceCopy) -> String? {
        copy.service == .sandbox ? "\(cluster.sandbox.mvpd)/healthz" : cluster.entry(of: copy)?.debug.map { "http://\($0)/readyz" }
    }

    private func address(of copy: ServiceCopy) -> String {
        guard copy.service == .sandbox else { return cluster.entry(of: copy)?.address ?? "" }
        return cluster.sandbox.mvpd.split(separator: "/").last.map(String.init) ?? ""
    }

    /// The cluster's own PostgreSQL, where its services use one.
    private var store: ProgramStatus? {
        let store = ClusterStore(home: home, ports: PortPlan(base: nil), choice: .asBefore)
        guard let server = store.ownServer else { return nil }
        var status = ProgramStatus(name: "postgres", kind: .own, address: "127.0.0.1:\(server.port)", state: .notRunning)
        status.version = server.version
        guard let pid = server.pid else {
            status.reasons = [store.log.map { "its log is \($0)" } ?? "it has not been started yet"]
            return status
        }
        status.pid = pid
        status.add(ProcessAge.read(pid))
        status.state = ListenProbe.isFree(server.port) ? .notReady : .ready
        if !status.isReady { status.reasons = ["nobody listens at port \(server.port)"] }
        return status
    }
}

extension ProgramStatus {
    fileprivate mutating func add(_ age: ProcessAge?) { (since, residentBytes) = (age?.since, age?.residentBytes) }
}

/// The system's facts about a process.
struct ProcessAge: Sendable {
    let since: Date
    let residentBytes: Int

    /// - Returns: Nil when there is no such process.
    static func read(_ pid: Int32) -> ProcessAge? {
        guard let reading = ProcessReading.read(pid), let stat = SystemFile.read("/proc/stat") else { return nil }
        // Seconds since 1970 at which the machine started.
        let boot = stat.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
        guard let boot else { return nil }
        let seconds = Double(reading.startTicks) / Double(sysconf(Int32(_SC_CLK_TCK)))
        return ProcessAge(since: Date(timeIntervalSince1970: boot + seconds), residentBytes: reading.residentBytes)
    }
}

/// One question after a service's health over the wire, as the operator.
struct HealthQuestion: Sendable {
    let address: String
    let service: ClusterService
    let pki: ClusterFile.Pki

    /// - Returns: The program's own report, and the problems that keep it from being used; no problems: it serves.
    func ask() async -> (report: HealthReport?, problems: [String]) {
        guard let address = RpcAddress(address) else { return (nil, ["cluster.json has no address for it: \(address)"]) }
        let probe = ReplacementProbe(
            replacement: Replacement(service: service, address: address),
            pki: LocalPki(folder: URL(fileURLWithPath: pki.ca).deletingLastPathComponent()), console: Console(isQuiet: true), patience: .zero)
        return await probe.report()
    }
}

/// The end of a program's log.
struct LogEnd {
    /// Octets; what is before them is history.
    private static let looked = 4 * 1024 * 1024
    /// A program that ends says why in its last lines.
    private static let last = 100

    let path: String

    /// The latest event that is an error.
    var lastError: ProgramStatus.LastError? {
        for octets in lines.reversed() {
            // Most lines are none, and to look for the words is far cheaper than to read JSON.
            guard octets.firstRange(of: Data("error".utf8)) != nil || octets.firstRange(of: Data("critical".utf8)) != nil else { continue }
            let line = LogLine(program: "", octets: Array(octets), after: .init(milliseconds: 0))
            guard let event = line.event, event.isError else { continue }
            let fields = Dictionary(event.fields.map { ($0.name, $0.value) }) { first, _ in first }
            return ProgramStatus.LastError(time: event.timeText, event: event.name, fields: fields, line: line.text, text: line.shortText)
        }
        return nil
    }

    /// A program has ended for this reason, by its own account: the first of the last lines that are no events. After it may come where in the
    /// program it was.
    var lastWords: String? {
        let lines = lines.suffix(Self.last)
        guard let end = lines.lastIndex(where: { !Self.isEvent($0) }) else { return nil }
        var start = end
        while start > lines.startIndex, !Self.isEvent(lines[start - 1]) { start -= 1 }
        return String(decoding: lines[start], as: UTF8.self)
    }

    private static func isEvent(_ line: Data) -> Bool { line.first == UInt8(ascii: "{") }

    /// Where another file was just begun, those of the one before it too.
    private var lines: [Data] {
        let present = Self.lines(of: path)
        guard present.count < Self.last, let former = FormerLog.names(of: path).last else { return present }
        return Self.lines(of: URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(former).path) + present
    }

    private static func lines(of path: String) -> [Data] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd(), (try? file.seek(toOffset: size > looked ? size - UInt64(looked) : 0)) != nil,
            let content = try? file.readToEnd()
        else { return [] }
        return content.split(separator: 0x0a)
    }
}
