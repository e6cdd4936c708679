internal import LoadReporting

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
        case .unknown: lines.append("Verdict: none; it was too short")
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
