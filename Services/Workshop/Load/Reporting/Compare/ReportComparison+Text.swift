extension ReportComparison {
    /// For the terminal, 80 columns wide.
    public func text() -> String {
        var lines = ["base  \(names.base): \(Self.about(base))", "new   \(names.new): \(Self.about(new))", ""]
        for warning in warnings { lines.append("! \(warning)") }
        if !warnings.isEmpty { lines.append("") }
        lines.append(Self.row("", "base", "new", "ratio", "noise (95 %)", ""))
        lines += figures.map(Self.row)
        if !operations.isEmpty {
            lines += ["", "by step"]
            lines += operations.map(Self.row)
        }
        if !assertions.isEmpty {
            lines.append("")
            lines += assertions.map { "\($0.hasHeld ? "passed" : "FAILED")  \($0.text)  (\($0.measured))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func about(_ report: LoadReport) -> String {
        "\(report.settings.service), \(report.settings.workload), \(LoadReport.levels(report.settings)), \(report.startedAt)"
    }

    private static func row(_ figure: ComparedFigure) -> String {
        row(
            figure.operation.map { "\($0) \(figure.kind.name)" } ?? figure.kind.title, figure.kind.text(figure.base), figure.kind.text(figure.new),
            figure.ratioText, figure.noiseText, figure.verdict == .unknown ? "" : figure.verdict.rawValue)
    }

    private static func row(_ name: String, _ base: String, _ new: String, _ ratio: String, _ noise: String, _ verdict: String) -> String {
        let cells = [name.padded(22), base.padded(9, isRight: true), new.padded(9, isRight: true), ratio.padded(7, isRight: true)]
        let line = cells.joined(separator: " ") + "  " + noise.padded(16) + " " + verdict
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

extension String {
    fileprivate func padded(_ width: Int, isRight: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return isRight ? blanks + self : self + blanks
    }
}
