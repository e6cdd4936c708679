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
