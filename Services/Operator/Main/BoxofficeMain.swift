internal import BoxofficeCommand

@main
struct CommandLineMain {
    static func main() async {
        await BoxofficeCommand.runAndExit()
    }
}
