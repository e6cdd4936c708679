import ArgumentParser
import Foundation

/// Identity tokens that are verified per second on one core, beside the bare check of the same signature through the same key.
@main
struct AppleBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "apple-benchmark")

    @Option(help: "Seconds per measurement.")
    var seconds = 1.0

    @Option(help: "How many times both are measured, in turns; the median of the ratios counts.")
    var rounds = 7

    @Option(help: "The lowest good ratio.")
    var goal = 0.7

    func run() throws {
        let subject = try Subject()
        print("RS256, RSA-2048, identity token of \(subject.token.utf8.count) octets; one core; per second")
        print("  verified   bare signature   ratio")
        var ratios: [Double] = []
        for round in 0..<rounds {
            // The second one finds a warmer machine: each is second every other time.
            let verified: Double
            let bare: Double
            if round.isMultiple(of: 2) {
                verified = try subject.verifications(seconds: seconds)
                bare = try subject.signatureChecks(seconds: seconds)
            } else {
                bare = try subject.signatureChecks(seconds: seconds)
                verified = try subject.verifications(seconds: seconds)
            }
            ratios.append(verified / bare)
            print(String(format: "%10.0f %16.0f %7.2f", verified, bare, verified / bare))
        }
        let median = ratios.sorted()[ratios.count / 2]
        print(String(format: "median ratio to the bare signature: %.2f; goal %.2f: %@", median, goal, median >= goal ? "met" : "missed"))
        guard median >= goal else { throw ExitCode.failure }
    }
}
