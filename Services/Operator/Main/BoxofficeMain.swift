@main
struct BoxofficeMain {
    static func main() async {
        await BoxofficeCommand.runAndExit()
    }
}
