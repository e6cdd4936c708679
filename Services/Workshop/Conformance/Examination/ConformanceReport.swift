internal import Foundation
internal import TextEncodings

/// Every requirement with its verdict, in the order of the contract.
public struct ConformanceReport: Codable, Hashable, Sendable {
    public let service: String
    /// `host:port`.
    public let address: String
    public let results: [RequirementResult]

    public func count(_ verdict: RequirementResult.Verdict) -> Int { results.count { $0.verdict == verdict } }

    /// True when no requirement failed.
    public var isConforming: Bool { count(.failed) == 0 }

    /// `48 passed, 1 failed, 2 not applicable`.
    public var summary: String { "\(count(.passed)) passed, \(count(.failed)) failed, \(count(.notApplicable)) not applicable" }

    /// - Throws: Never for a report of a run.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }

    /// For continuous integration.
    public var junit: String {
        let seconds = results.map(\.milliseconds).reduce(0, +)
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<testsuite name="boxoffice conformance \#(service)" tests="\#(results.count)" failures="\#(count(.failed))" skipped="\#(count(.notApplicable))" time="\#(Self.seconds(seconds))">"#,
        ]
        for result in results {
            let name = Self.escaped("\(result.id) \(result.sentence)")
            lines.append(#"  <testcase classname="\#(service)" name="\#(name)" time="\#(Self.seconds(result.milliseconds))">"#)
            switch result.verdict {
            case .passed: break
            case .notApplicable: lines.append(#"    <skipped message="\#(Self.escaped(result.reason ?? ""))"/>"#)
            case .failed:
                lines.append(
                    #"    <failure message="\#(Self.escaped(result.came ?? ""))">\#(Self.escaped(result.details.joined(separator: "\n")))</failure>"#)
            }
            lines.append("  </testcase>")
        }
        return (lines + ["</testsuite>", ""]).joined(separator: "\n")
    }

    private static func seconds(_ milliseconds: Int) -> String { String(format: "%.3f", Double(milliseconds) / 1000) }

    private static func escaped(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" }
        return MarkupEscapes.xml.escaped(String(String.UnicodeScalarView(scalars)))
    }
}

extension RequirementResult {
    /// The details that a person needs to see why it failed.
    public var details: [String] {
        var lines: [String] = []
        if let reason { lines.append("because \(reason)") }
        if let expected { lines.append("expected  \(expected)   [\(source)]") }
        if let came { lines.append("came      \(came)") }
        for text in sent ?? [] { lines.append("sent      \(text)") }
        for text in answered ?? [] { lines.append("received  \(text)") }
        return lines
    }
}
