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

    @Option(help: "Seconds per measurement.")
    var seconds = 1.0

    @Option(help: "How many times both are measured, in turns; the median of the ratios counts.")
    var rounds = 7

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

        print("RSA-2048, SHA-256, signed assertion, \(subject.xml.utf8.count) octets; one core; responses per second")
        print("  ours   C, signature   C, parse and signature   ratio   ratio")
        var ratios: [Double] = []
        for _ in 0..<rounds {
            let ours = try subject.rate(seconds: seconds)
            let theirs = try limit(document.path, certificate.path)
            ratios.append(ours / theirs.signature)
            print(
                String(format: "%6.0f %14.0f %24.0f %7.2f %7.2f", ours, theirs.signature, theirs.whole, ours / theirs.signature, ours / theirs.whole))
        }
        let median = ratios.sorted()[ratios.count / 2]
        print(String(format: "median ratio to the signature alone: %.2f; goal %.2f: %@", median, goal, median >= goal ? "met" : "missed"))
        guard median >= goal else { throw ExitCode.failure }
    }

    private func limit(_ document: String, _ certificate: String) throws -> (signature: Double, whole: Double) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: verify)
        process.arguments = [document, certificate, "\(seconds)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let rates = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard process.terminationStatus == 0, rates.count == 2 else { throw ValidationError("\(verify) failed: \(text)") }
        return (rates[0], rates[1])
    }
}
