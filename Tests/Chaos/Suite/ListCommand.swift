import ArgumentParser

/// `chaos list`: the experiments.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Name the experiments.")

    @Flag(help: "Those of a long run.")
    var long = false

    func run() {
        for experiment in FaultCatalogue.experiments(isLong: long) { print(experiment.name) }
        for subject in OverloadSubject.allCases { print(subject.name) }
    }
}
