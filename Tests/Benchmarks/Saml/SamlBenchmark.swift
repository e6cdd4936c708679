import ArgumentParser
import Clocks
import Foundation
import SamlProfile
import SamlSigner

/// Responses that the SAML profile verifies per second on one core, beside libxmlsec1 doing only the signature of the same document.
@main
struct SamlBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "saml-benchmark")

    @Option(help: "The C program to compare with.")
    var verify: String

    @Option(help: "Seconds per measurement; short, because a machine that is shared changes its speed from one moment to the next.")
    var seconds = 0.05

    @Option(help: "How many times both are measured, in turns; the median of the ratios counts.")
    var rounds = 101

    @Option(help: "The lowest good ratio.")
    var goal = 0.6

    func run() throws {
        let subject = try Subject()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("saml-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let document = folder.appendingPathComponent("response.xml")
        let certificate = folder.appendingPathComponent("certificate.pem")
        try Data(subject.xml.utf8).write(to: document)
        try Data(subject.certificatePEM.utf8).write(to: certificate)

        let limit = try Limit(program: verify, document: document.path, certificate: certificate.path, seconds: seconds)
        defer { limit.stop() }
        _ = try subject.rate(seconds: seconds)
        var measured: [(ours: Double, signature: Double, whole: Double)] = []
        for _ in 0..<rounds {
            let ours = try subject.rate(seconds: seconds)
            let theirs = try limit.rates()
            measured.append((ours, theirs.signature, theirs.whole))
        }
        print("RSA-2048, SHA-256, signed assertion, \(subject.xml.utf8.count) octets; one core; responses per second, medians of \(rounds) rounds")
        print(String(format: "ours %27.0f", median(measured.map(\.ours))))
        print(String(format: "C, the signature alone %9.0f", median(measured.map(\.signature))))
        print(String(format: "C, parse and signature %9.0f", median(measured.map(\.whole))))
        let ratios = measured.map { $0.ours / $0.signature }
        print("ratio to parse and signature \(shown(measured.map { $0.ours / $0.whole }))")
        print("ratio to the signature alone \(shown(ratios)); goal \(goal): \(median(ratios) >= goal ? "met" : "missed")")
        guard median(ratios) >= goal else { throw ExitCode.failure }
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// The median, and between what nine of ten rounds lie.
    private func shown(_ values: [Double]) -> String {
        let sorted = values.sorted()
        return String(format: "%.2f (%.2f to %.2f)", median(values), sorted[values.count / 20], sorted[values.count - 1 - values.count / 20])
    }
}
