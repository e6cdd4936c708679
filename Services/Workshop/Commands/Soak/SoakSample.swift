internal import ClusterCommands
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import ServiceKit

/// The findings of one look at a cluster.
struct SoakSample: Sendable {
    struct Key: Hashable, Sendable {
        let quantity: SoakQuantity
        let name: String
    }

    var values: [Key: Double] = [:]
    /// Entries that caches may have, by name.
    var limits: [String: Double] = [:]
    /// Tells a process from another of the same name: those that run.
    var starts: [String: UInt64] = [:]

    /// - Parameter metrics: The metrics of a process, in Prometheus' text form; `nil`: nothing.
    static func take(_ home: ClusterHome, _ processes: [ServiceProcess], metrics: (ServiceProcess) async -> String?) async -> SoakSample {
        var sample = SoakSample()
        for process in processes {
            sample.add(process)
            if let text = await metrics(process) { sample.addCaches(text, of: process.copy.name) }
        }
        sample.addStores(home.data)
        for program in JoinedLogs.programs(in: home.logs) { sample.addLog(program, home.logs) }
        return sample
    }

    private mutating func add(_ process: ServiceProcess) {
        let name = process.copy.name
        guard process.isRunning, let reading = ProcessReading.read(process.pid) else { return }
        starts[name] = reading.startTicks
        values[Key(quantity: .residentMemory, name: name)] = Double(reading.residentBytes)
        values[Key(quantity: .threads, name: name)] = Double(reading.threads)
        let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd")
        values[Key(quantity: .openFiles, name: name)] = files.map { Double($0.count) }
        values[Key(quantity: .ownMemory, name: name)] = SystemFile.read("/proc/\(process.pid)/status").flatMap(Self.ownMemory)
    }

    /// - Parameter status: The content of `/proc/PID/status`.
    static func ownMemory(_ status: String) -> Double? {
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }.map { $0 * 1024 }
    }

    private mutating func addStores(_ folder: URL) {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".sqlite") {
            let (path, name) = (folder.appendingPathComponent(file).path, String(file.dropLast(7)))
            values[Key(quantity: .store, name: name)] = Self.size(path)
            values[Key(quantity: .journal, name: name)] = Self.size(path + "-wal") ?? 0
            values[Key(quantity: .freePages, name: name)] = Self.freePages(path)
        }
    }

    /// As the file's header says it (sqlite.org/fileformat2.html, section 1.3): as of the last pages that came from the write-ahead log.
    static func freePages(_ path: String) -> Double? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let header = try? file.read(upToCount: 100).map(Array.init), header.count == 100, header.starts(with: Array("SQLite format 3".utf8))
        else { return nil }
        let size = Int(header[16]) << 8 | Int(header[17])
        return Double(header[36..<40].reduce(0) { $0 << 8 | Int($1) } * (size == 1 ? 65_536 : size))
    }

    /// - Parameters:
    ///   - metrics: The metrics of the program, in Prometheus' text form.
    ///   - program: Its name.
    mutating func addCaches(_ metrics: String, of program: String) {
        for sample in PrometheusText(metrics).samples {
            guard let cache = sample.labels["cache"] else { continue }
            let name = "\(program): \(cache)"
            switch sample.name {
            case "boxoffice_storage_cache_entries": values[Key(quantity: .cache, name: name)] = sample.value
            case "boxoffice_storage_cache_limit_entries": limits[name] = sample.value
            default: continue
            }
        }
    }

    private mutating func addLog(_ program: String, _ folder: URL) {
        let path = folder.appendingPathComponent("\(program).log").path
        let former = FormerLog.names(of: path).compactMap { Self.size(folder.appendingPathComponent($0).path) }
        values[Key(quantity: .log, name: program)] = (Self.size(path) ?? 0) + former.reduce(0, +)
    }

    private static func size(_ path: String) -> Double? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Double(facts.st_size) : nil
    }
}
