internal import Foundation
internal import LoadReporting

/// The result of a soak.
struct SoakReport: Sendable {
    /// The load that was put on meanwhile.
    struct Load: Sendable, Equatable {
        /// Iterations per second that were due.
        var rate: Double
        var iterations = 0
        var succeeded = 0
        var failed = 0
        /// Not begun, because too many were under way.
        var dropped = 0
        /// The most frequent errors.
        var errors: [String] = []

        var errorShare: Double { succeeded + failed > 0 ? Double(failed) / Double(succeeded + failed) : 0 }
    }

    enum Verdict: String, Sendable {
        case steady
        /// Something grows, is above its bound, has ended, or refused calls.
        case failed
        /// It was too short to say.
        case unknown
    }

    let record: SoakRecord
    /// Seconds whose samples do not count.
    let warmUp: Double
    let load: Load
    /// It ended before its time for this reason; `nil`: it did not.
    var cutShort: String?

    /// More failed calls than that are no good end.
    private static let mostErrors = 0.01
    /// A cache that had more of its entries once was full: then it drops the older half.
    private static let full = 0.9

    /// The problems that were found.
    var problems: [String] {
        var problems = record.interruptions
        if load.errorShare > Self.mostErrors {
            problems.append("\(Quantity.share(load.errorShare)) of the calls failed: \(load.errors.joined(separator: ", "))")
        }
        for series in record.all {
            let what = "\(series.quantity.title) of \(series.name)"
            switch series.verdict(after: warmUp) {
            case .grows:
                guard let growth = series.growth(after: warmUp) else { continue }
                let (whole, late) = (series.quantity.text(growth.perHour), series.quantity.text(growth.latePerHour))
                let filling = series.quantity == .ownMemory ? filling(of: series.name) : []
                problems.append(
                    "\(what) grows by \(whole) an hour, in the later half by \(late)"
                        + (filling.isEmpty ? "" : "; its caches fill: \(filling.joined(separator: ", "))"))
            case .overBound:
                let most = series.points.map(\.value).max() ?? 0
                problems.append("\(what) was \(series.quantity.text(most)), above its bound of \(series.quantity.text(series.bound ?? 0))")
            case .steady, .told, .unknown: continue
            }
        }
        return problems
    }

    /// A process whose caches are not full yet takes more memory with each entry. A soak cannot tell that from a leak, but says so.
    private func filling(of process: String) -> [String] {
        record.series(.cache).compactMap { cache in
            guard cache.name.hasPrefix("\(process): "), let bound = cache.bound, let last = cache.points.last?.value,
                !cache.points.contains(where: { $0.value > Self.full * bound }), let growth = cache.growth(after: warmUp), growth.perHour > 0,
                growth.latePerHour > 0
            else { return nil }
            return "\(cache.name.dropFirst(process.count + 2)) \(Quantity.count(Int(last))) of \(Quantity.count(Int(bound)))"
        }
    }

    var verdict: Verdict {
        guard problems.isEmpty else { return .failed }
        let processes = record.series(.ownMemory)
        return processes.isEmpty || processes.contains { $0.verdict(after: warmUp) == .unknown } ? .unknown : .steady
    }
}

extension SoakQuantity {
    var title: String {
        switch self {
        case .ownMemory: "own memory"
        case .residentMemory: "resident memory"
        case .openFiles: "open files"
        case .threads: "threads"
        case .store: "store"
        case .journal: "write-ahead log"
        case .freePages: "free pages"
        case .log: "log"
        case .cache: "entries"
        }
    }

    /// A value with its unit.
    func text(_ value: Double) -> String { unit == .bytes ? Quantity.bytes(value) : Quantity.number(value) }

    /// A change with its sign; what is less than a thousandth of what there is is none to look at.
    func change(_ value: Double, of level: Double) -> String {
        guard abs(value) >= max(unit == .bytes ? 1024 : 0.05, abs(level) / 1000) else { return "0" }
        return (value > 0 ? "+" : "") + text(value)
    }
}

extension SoakReport {
    /// As programs read it.
    var members: [String: Any] {
        var members: [String: Any] = [
            "verdict": verdict.rawValue, "problems": problems, "seconds": record.seconds, "warmUpSeconds": warmUp,
            "load": [
                "rate": load.rate, "iterations": load.iterations, "succeeded": load.succeeded, "failed": load.failed, "dropped": load.dropped,
                "errors": load.errors,
            ] as [String: Any],
            "series": record.all.map(members),
        ]
        members["cutShort"] = cutShort
        return members
    }

    private func members(of series: SoakSeries) -> [String: Any] {
        let values = series.measured(after: warmUp).map(\.value)
        var members: [String: Any] = [
            "quantity": series.quantity.rawValue, "name": series.name, "unit": series.quantity.unit.rawValue, "samples": values.count,
            "verdict": series.verdict(after: warmUp).rawValue,
        ]
        if let first = values.first, let last = values.last { (members["first"], members["last"]) = (first, last) }
        if let least = values.min(), let most = values.max() { (members["least"], members["most"]) = (least, most) }
        members["bound"] = series.bound
        if let growth = series.growth(after: warmUp) {
            (members["mean"], members["perHour"], members["latePerHour"]) = (growth.level, growth.perHour, growth.latePerHour)
        }
        return members
    }
}

extension SoakReport {
    /// As people read it, line by line.
    var lines: [String] {
        let measured = max(0, record.seconds - warmUp)
        let calls = "\(Quantity.count(load.succeeded)) calls answered, \(Quantity.count(load.failed)) failed"
        let visits = "\(Quantity.count(load.iterations)) visits, \(Quantity.count(load.dropped)) not begun"
        var lines = ["Mixed load at \(Quantity.number(load.rate))/s for \(Self.span(record.seconds)): \(visits), \(calls)"]
        if let cutShort { lines.append("Cut short: \(cutShort)") }
        let warmUp = Self.span(min(warmUp, record.seconds))
        lines.append("Mean, and change per hour by least squares, over \(Self.span(measured)) after \(warmUp) of warm-up")
        lines += [""] + table("process", [.ownMemory, .residentMemory, .openFiles, .threads])
        lines += [""] + table("store", [.store, .journal, .freePages])
        lines += [""] + table("log", [.log])
        if !record.series(.cache).isEmpty { lines += [""] + table("cache", [.cache]) }
        lines += [""] + problems.map { "  \($0)" }
        switch verdict {
        case .steady: lines.append("Verdict: steady; nothing grows that should not")
        case .failed: lines.append("Verdict: failed, by the above")
        case .unknown: lines.append("Verdict: none; it was too short to tell steady from slow growth")
        }
        return lines
    }

    private func table(_ kind: String, _ quantities: [SoakQuantity]) -> [String] {
        var table = TextTable([kind] + quantities.flatMap { [$0.title, "per hour"] })
        let series = Dictionary(grouping: quantities.flatMap(record.series)) { $0.name }
        for name in record.series(quantities[0]).map(\.name) {
            table.add(
                [name]
                    + quantities.flatMap { quantity -> [String] in
                        guard let one = series[name]?.first(where: { $0.quantity == quantity }), let last = one.points.last else {
                            return ["–", "–"]
                        }
                        guard let growth = one.growth(after: warmUp) else { return [quantity.text(last.value), "–"] }
                        let mark = [.grows, .overBound].contains(one.verdict(after: warmUp)) ? " !" : ""
                        return [quantity.text(growth.level), quantity.change(growth.perHour, of: growth.level) + mark]
                    })
        }
        return table.lines
    }

    private static func span(_ seconds: Double) -> String { Quantity.span(Int64(seconds.rounded()) * 1_000_000_000) }
}
