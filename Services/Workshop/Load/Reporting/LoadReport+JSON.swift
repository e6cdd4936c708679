public import Foundation

extension LoadReport {
    /// The JSON form: sorted keys, so that two reports can be compared line by line.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Reads the JSON form.
    /// - Throws: `ReportRejection` that says what is wrong with it.
    public init(json: Data) throws {
        struct Head: Decodable { var format: String }
        do {
            let format = try JSONDecoder().decode(Head.self, from: json).format
            guard format == Self.currentFormat else {
                throw ReportRejection("its format is '\(format)'; this version reads '\(Self.currentFormat)'")
            }
            self = try JSONDecoder().decode(LoadReport.self, from: json)
            guard isCountable else { throw ReportRejection("it has counts or times that no run can have") }
        } catch let error as DecodingError {
            throw ReportRejection("it is no report of boxoffice load (\(Self.place(of: error)))")
        }
    }

    /// True when its figures can be added up without a thought: none is negative, or beyond what any run counts.
    private var isCountable: Bool {
        let most = Int(Self.mostCounted)
        func fits(_ counts: Int...) -> Bool { counts.allSatisfy { (0...most).contains($0) } }
        func fits(_ times: EncodedHistogram?) -> Bool {
            guard let times else { return true }
            guard times.values.count == times.counts.count, times.counts.allSatisfy({ $0 <= Self.mostCounted }) else { return false }
            return times.counts.count <= 1_000_000 && times.counts.reduce(0) { min($0 + $1, 2 * Self.mostCounted) } <= Self.mostCounted
        }
        func fits(_ times: Latencies?) -> Bool {
            guard let times else { return true }
            return fits(times.count) && fits(times.histogram) && times.meanNanoseconds.isFinite && times.standardDeviationNanoseconds.isFinite
        }
        func fits(_ totals: RunTotals) -> Bool {
            fits(totals.due, totals.dropped, totals.iterations, totals.sent, totals.succeeded, totals.failed, totals.unfinished)
                && (0...1 << 55).contains(totals.requestBytes) && (0...1 << 55).contains(totals.answerBytes)
                && isSpan(totals.elapsedNanoseconds) && fits(totals.responseTime) && fits(totals.serviceTime)
        }
        func isSpan(_ nanoseconds: Int64) -> Bool { (0...1 << 55).contains(nanoseconds) }
        let spans = [settings.timeoutNanoseconds, settings.warmUpNanoseconds, settings.durationNanoseconds]
        let lengths = settings.schedule?.map(\.lengthNanoseconds) ?? []
        return fits(totals) && steps.allSatisfy { fits($0.totals) && fits($0.lag) && isSpan($0.lagP99Nanoseconds) }
            && operations.allSatisfy { fits($0.sent, $0.succeeded, $0.failed) && fits($0.responseTime) && fits($0.serviceTime) }
            && errors.allSatisfy { fits($0.count) } && operations.flatMap(\.errors).allSatisfy { fits($0.count) }
            && fits(generator.lag) && fits(iterationTime) && (spans + lengths).allSatisfy(isSpan)
            && fits(settings.connections, settings.workers, settings.maxOutstanding, settings.callLimit ?? 0, machine.cores)
            && (0...1 << 42).contains(run.startedAtMilliseconds)
            && series.allSatisfy { sample in
                fits(
                    sample.due, sample.dropped, sample.sent, sample.succeeded, sample.failed, sample.inFlight, sample.connections,
                    sample.iterations ?? 0)
                    && abs(sample.second) < 1e9 && isSpan(sample.elapsedNanoseconds) && sample.errors.values.allSatisfy { fits($0) }
            }
    }

    private static func place(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "'\(context.codingPath.map(\.stringValue).joined(separator: "."))' is of a wrong type"
        case .dataCorrupted: "it is no JSON"
        @unknown default: "\(error)"
        }
    }
}

/// A file that is no report.
public struct ReportRejection: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
